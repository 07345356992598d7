import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSharePriceShell } from '../../actors/share-prices/shell.js'
import { createSharePriceHistory } from '../../src/defi/share-price-history.js'
import type { SharePriceSample } from '../../src/domain/share-price.js'
import { openRealStore, type RealStore } from './real-store.js'

const VAULT = '8453:0x00000000000000000000000000000000000000AA'
const SPACING_MS = 10 * 60_000
const SAMPLES_MAX = 144

let store: RealStore
beforeEach(async () => {
  store = await openRealStore()
})
afterEach(() => store.close())

/** As the front end keeps it, its writes collected. */
function history() {
  const written: [string, readonly SharePriceSample[]][] = []
  const kept = createSharePriceHistory({
    stored: store.reader.markets.sharePrices(),
    store: (key, samples) => written.push([key, samples]),
  })
  return { kept, written }
}

/** What the actor makes durable of it. */
function write([vaultKey, samples]: [string, readonly SharePriceSample[]]) {
  const shell = createSharePriceShell()
  const command = { type: 'share-prices-sampled', vaultKey, samples } as const
  const { events } = shell.decide(null, command, null)
  return store.write((writer) => shell.record(writer, null, events))
}

test('a yield is known right after a restart, from what was sampled before it', async () => {
  const before = history()
  expect(before.kept.apy(VAULT)).toBeNull()
  before.kept.record(VAULT, 1_000_000n, 0)
  before.kept.record(VAULT, 1_000_100n, SPACING_MS)
  const apy = before.kept.apy(VAULT)
  expect(Number(apy)).toBeGreaterThan(0)
  for (const entry of before.written) await write(entry)

  const after = history()
  expect(after.kept.apy(VAULT)).toBe(apy)
  after.kept.record(VAULT, 1_000_400n, 2 * SPACING_MS)
  expect(Number(after.kept.apy(VAULT))).toBeCloseTo(2 * Number(apy), 3)
  expect(after.written).toHaveLength(1)
})

test('a day of samples is kept of a vault, and no more is stored', async () => {
  const { kept, written } = history()
  for (let i = 0; i < SAMPLES_MAX + 10; i++) {
    kept.record(VAULT, 1_000_000n + BigInt(i), i * SPACING_MS)
    // Looked at more often than that: not stored.
    kept.record(VAULT, 1_000_000n + BigInt(i), i * SPACING_MS + 1_000)
  }
  expect(written).toHaveLength(SAMPLES_MAX + 10)
  const last = written.at(-1)
  if (last === undefined) throw new Error('nothing was written')
  await write(last)
  const [stored] = [...store.reader.markets.sharePrices()]
  expect(stored?.[0]).toBe(VAULT)
  expect(stored?.[1]).toHaveLength(SAMPLES_MAX)
  expect(stored?.[1].at(-1)?.sharePrice).toBe(1_000_000n + BigInt(SAMPLES_MAX + 9))
})

test('a yield is the same until a block changes the price, and falls while none does', () => {
  const { kept } = history()
  kept.record(VAULT, 1_000_000n, 0)
  kept.record(VAULT, 1_000_100n, 90_000)
  const apy = kept.apy(VAULT)
  kept.record(VAULT, 1_000_100n, 90_001)
  expect(kept.apy(VAULT)).toBe(apy)
  kept.record(VAULT, 1_000_100n, 10 * 90_000)
  expect(Number(kept.apy(VAULT))).toBeLessThan(Number(apy) / 9)
})
