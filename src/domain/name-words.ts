/**
 * Finds keys and wallets by the words of their names, ignoring case, variants of the same letter
 * (NFKC) and what separates words. A name matches a text when each word of the text is a prefix of
 * one of the name's words.
 */

/** A name of 100 characters has at most this many words, and no realistic name has more. */
const WORDS_MAX = 50

/**
 * What separates words. Symbols and emoji count as words, because a name may consist only of them.
 */
const BETWEEN = /[\p{Z}\p{P}\p{Cc}\p{Cf}]+/u

/** The words in their order, each once. */
export function wordsOf(text: string): readonly string[] {
  const words = text.normalize('NFKC').toLowerCase().split(BETWEEN)
  return [...new Set(words)].filter((word) => word !== '').slice(0, WORDS_MAX)
}

/** @returns an empty list, which matches nothing, when the text has no words */
export function wantedWords(text: string): readonly string[] {
  const words = wordsOf(text)
  // A name that matches the longer word also matches the shorter one.
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
}

/** @param wanted the result of `wantedWords` */
export function isNamed(name: string, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return false
  const words = wordsOf(name)
  return wanted.every((begin) => words.some((word) => word.startsWith(begin)))
}
