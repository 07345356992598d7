/**
 * Characters for the class of a regular expression: marks that reverse or embed a line, and line
 * separators, by which a name could be shown as another one.
 */
export const MISLEADING = '\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069'

/**
 * Invisible characters: a name with one would look like another's, or like none. Joiners are
 * permitted, since scripts and emoji need them.
 */
const UNSEEN =
  /\u034F|\u17B4|\u17B5|[\u00AD\u115F\u1160\u180E\u200B\u2060-\u2064\u2800\u3164\uFEFF\uFFA0]/u

/** Whether a name has visible characters and no invisible ones. */
export function isSeen(name: string): boolean {
  return name.trim() !== '' && !UNSEEN.test(name)
}

/**
 * Removes control characters and direction marks, by which a contract could forge what a person
 * reads.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, '').trim()
}
