/**
 * What keys and wallets are found by: the words of their names, without regard to case, to forms of the
 * same letter (NFKC) or to what stands between words. A name is found by texts each of whose words is
 * how one of its own begins.
 */

/** As many as a name of 100 characters has, and more than one that is seen needs. */
const WORDS_MAX = 50

/** Between words. Signs and pictures are words: a name may have nothing else. */
const BETWEEN = /[\p{Z}\p{P}\p{Cc}\p{Cf}]+/u

/** Each once, in their order. */
export function wordsOf(text: string): readonly string[] {
  const words = text.normalize('NFKC').toLowerCase().split(BETWEEN)
  return [...new Set(words)].filter((word) => word !== '').slice(0, WORDS_MAX)
}

/** @returns none where there is nothing to look for: that finds nothing */
export function wantedWords(text: string): readonly string[] {
  const words = wordsOf(text)
  // Whatever has the longer one has the shorter one, too.
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
}

/** @param wanted of `wantedWords` */
export function isNamed(name: string, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return false
  const words = wordsOf(name)
  return wanted.every((begin) => words.some((word) => word.startsWith(begin)))
}
