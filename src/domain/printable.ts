/**
 * For the class of a regular expression: marks that reverse or embed a line, and its separators, by
 * which a name could be shown as another one.
 */
export const MISLEADING = '\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069'

/**
 * Nobody sees these: a name with one would be another's to the eye, or none. Joiners are left in, since
 * scripts and emoji need them.
 */
const UNSEEN =
  /\u034F|\u17B4|\u17B5|[\u00AD\u115F\u1160\u180E\u200B\u2060-\u2064\u2800\u3164\uFEFF\uFFA0]/u

/** Whether a name shows what it is. */
export function isSeen(name: string): boolean {
  return name.trim() !== '' && !UNSEEN.test(name)
}

/** Control characters and direction marks would let a contract forge what a person reads. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, '').trim()
}
