/**
 * For the class of a regular expression: marks that reverse or embed a line, and its separators, by
 * which a name could be shown as another one.
 */
export const MISLEADING = '\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069'

/** Control characters and direction marks would let a contract forge what a person reads. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, '').trim()
}
