/** Control characters and direction marks would let a contract forge what a person reads. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, '').trim()
}
