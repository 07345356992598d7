import type { SharePriceSample } from '../domain/share-price.js'

/**
 * Share prices of vaults, sampled over time: a market's yield is their gain. One day is kept and
 * stored, so that the yield is known right after a restart; for a new vault it is unknown for the
 * first minute.
 */
export interface SharePriceHistory {
  /** @param sharePrice assets for a fixed number of shares */
  record(vaultKey: string, sharePrice: bigint, atMs: number): void
  /** The yearly yield as a fraction with 6 digits; null until there are enough samples. */
  apy(vaultKey: string): string | null
}

interface SharePriceHistoryOptions {
  /** The samples stored before. */
  readonly stored: Iterable<readonly [vaultKey: string, samples: readonly SharePriceSample[]]>
  /** Called with all samples of a vault when one was added: once in ten minutes. */
  readonly store: (vaultKey: string, samples: readonly SharePriceSample[]) => void
}

const VAULTS_MAX = 2_048
const SAMPLES_MAX = 144
/** Samples arrive more often when markets are listed often; one in ten minutes is kept. */
const SPACING_MS = 10 * 60_000
/** A price read again within this time is from the same block, and so is its yield. */
const SAME_BLOCK_MS = 15_000
/** Over a shorter time a rounding error would look like a yield. */
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
