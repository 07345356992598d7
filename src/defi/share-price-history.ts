import type { SharePriceSample } from '../domain/share-price.js'

/**
 * What vaults' shares were worth, sampled over time: the yield of a market is what they gained.
 * A day of it is kept, and given to be stored, so that a restart knows the yield at once; of a new
 * vault it is unknown for the first minute.
 */
export interface SharePriceHistory {
  /** @param sharePrice assets for a fixed number of shares */
  record(vaultKey: string, sharePrice: bigint, atMs: number): void
  /** Yearly yield as a fraction, 6 digits; null until there is enough to tell. */
  apy(vaultKey: string): string | null
}

export interface SharePriceHistoryOptions {
  /** What was stored before. */
  readonly stored: Iterable<readonly [vaultKey: string, samples: readonly SharePriceSample[]]>
  /** Called with all that is kept of a vault whenever a sample was added: once in ten minutes. */
  readonly store: (vaultKey: string, samples: readonly SharePriceSample[]) => void
}

const VAULTS_MAX = 2_048
const SAMPLES_MAX = 144
/** Samples come closer when markets are listed often; one in ten minutes is kept. */
const SPACING_MS = 10 * 60_000
/** A price seen again within this is of the same block: the yield it says is the same, too. */
const SAME_BLOCK_MS = 15_000
/** Below this a rounding error would be a yield. */
const SPAN_MIN_MS = 60_000
const YEAR_MS = 365 * 86_400_000
const SCALE = 1_000_000_000_000n

export function createSharePriceHistory(options: SharePriceHistoryOptions): SharePriceHistory {
  const samples = new Map<string, SharePriceSample[]>()
  const newest = new Map<string, SharePriceSample>()
  for (const [key, kept] of options.stored) {
    const last = kept.at(-1)
    if (last === undefined || samples.size >= VAULTS_MAX) continue
    samples.set(key, [...kept])
    newest.set(key, last)
  }

  return {
    record(key, sharePrice, atMs) {
      if (!samples.has(key) && samples.size >= VAULTS_MAX) return
      const kept = samples.get(key) ?? []
      const last = kept.at(-1)
      const before = newest.get(key)
      const isSame =
        before?.sharePrice === sharePrice && Math.abs(atMs - before.atMs) < SAME_BLOCK_MS
      if (!isSame) newest.set(key, { sharePrice, atMs })
      if (last !== undefined && atMs - last.atMs < SPACING_MS) return
      kept.push({ sharePrice, atMs })
      if (kept.length > SAMPLES_MAX) kept.shift()
      samples.set(key, kept)
      options.store(key, [...kept])
    },
    apy(key) {
      const first = samples.get(key)?.[0]
      const last = newest.get(key)
      if (first === undefined || last === undefined || first.sharePrice === 0n) return null
      const spanMs = last.atMs - first.atMs
      if (spanMs < SPAN_MIN_MS) return null
      const gained = ((last.sharePrice - first.sharePrice) * SCALE) / first.sharePrice
      return ((Number(gained) / Number(SCALE)) * (YEAR_MS / spanMs)).toFixed(6)
    },
  }
}
