/** A pair as Chainlink describes it, "ETH / USD", anywhere in the text. */
const PAIR = /\/\s*([A-Za-z0-9.]+)/g
/** A ratio of two tokens, which is not a price whatever its name. */
const RATIO = /exchange rate/i

/** @returns in upper case, "" for a ratio; null when a feed's `description()` names no currency */
export function feedCurrency(description: string): string | null {
  if (RATIO.test(description)) return ''
  return [...description.matchAll(PAIR)].at(-1)?.[1]?.toUpperCase() ?? null
}
