/** Of a pair as Chainlink describes it, "ETH / USD", wherever in the text it stands. */
const PAIR = /\/\s*([A-Za-z0-9.]+)/g
/** A ratio of two tokens, which is no price however it is called. */
const RATIO = /exchange rate/i

/** @returns in upper case, "" for a ratio; null where a feed's `description()` says nothing of it */
export function feedCurrency(description: string): string | null {
  if (RATIO.test(description)) return ''
  return [...description.matchAll(PAIR)].at(-1)?.[1]?.toUpperCase() ?? null
}
