/** 1 for the character code of a hex digit. */
const IS_DIGIT = new Uint8Array(256)
for (const digit of '0123456789abcdefABCDEF') IS_DIGIT[digit.charCodeAt(0)] = 1

/**
 * Whether a text is `0x` and whole bytes of hex, in either case. A table, because calldata of
 * 128 KiB takes a regular expression several times as long, and longest when its digits are random.
 */
export function isHexBytes(text: string): boolean {
  const { length } = text
  if (length < 2 || length % 2 !== 0 || !text.startsWith('0x')) return false
  let bad = 0
  for (let i = 2; i < length; i++) {
    const code = text.charCodeAt(i)
    bad |= (code >> 8) | ((IS_DIGIT[code & 255] ?? 0) ^ 1)
  }
  return bad === 0
}
