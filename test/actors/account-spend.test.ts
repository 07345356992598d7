import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import { ID_PREFIX, type KeyId, type LineageId, type SubWalletId } from '../../src/domain/ids.js'
import { formatUsd } from '../../src/domain/money.js'
import { utcDay, utcMonth } from '../../src/domain/spend.js'
import type { SubWalletHeader } from '../../src/domain/wallet.js'
import { createAccountSpend } from '../../src/operations/console/account-spend.js'
import { getSpendTotals, listSpend } from '../../src/operations/console/spend.js'
import { openRealStore, type RealStore } from './real-store.js'
import { apiKey, START_MS, USER_ID, wallet } from './wallet-fixtures.js'

const PERSON = { userId: USER_ID, personId: USER_ID, role: 'owner' } as const
const CONTEXT = { requestId: 'r', ...PERSON, email: null, token: '', presentedKey: null }
const USD = 1_000_000n
const DAY_MS = 86_400_000
const WALLETS = 300

const walletIdOf = (n: number) =>
  `${ID_PREFIX.subWallet}${String(n).padStart(26, '0')}` as SubWalletId
const keyIdOf = (n: number) => `${ID_PREFIX.key}${String(n).padStart(26, '0')}` as KeyId
const lineageOf = (n: number) => keyIdOf(n) as string as LineageId

function keyOf(n: number, said: Partial<ApiKey> = {}): ApiKey {
  return apiKey({
    ...{ keyId: keyIdOf(n), lineageId: lineageOf(n), subWalletId: walletIdOf(n) },
    ...{ name: `agent ${n}`, secretHash: n.toString(16).padStart(64, '0') },
    ...{ dailyLimitMicros: 1_000n * USD, monthlyLimitMicros: 1_000n * USD },
    ...said,
  })
}

function headerOf(n: number, usd: Readonly<Record<number, bigint>>): SubWalletHeader {
  const spend = Object.entries(usd).map(([lineage, spent]) => ({
    lineageId: lineageOf(Number(lineage)),
    counters: {
      ...{ day: utcDay(START_MS), dayMicros: spent * USD },
      ...{ month: utcMonth(START_MS), monthMicros: 2n * spent * USD, reservedMicros: USD },
    },
  }))
  return {
    wallet: { ...wallet, subWalletId: walletIdOf(n) },
    ...{ lanes: [], spend, open: [] },
  }
}

let store: RealStore
let ports: Parameters<typeof listSpend>[0]
beforeEach(async () => {
  store = await openRealStore()
  const { reader } = store
  const accountSpend = createAccountSpend({ reader, timers: systemTimers() })
  ports = { reader, accountSpend, nowMs: () => START_MS }
})
afterEach(() => store.close())

async function totals(days?: number, nowMs = START_MS) {
  const get = getSpendTotals({ ...ports, nowMs: () => nowMs })
  const answer = await get(CONTEXT, days === undefined ? {} : { days })
  if (!answer.ok) throw new Error(answer.fault.message)
  return answer.value
}

async function page(input: Parameters<ReturnType<typeof listSpend>>[1]) {
  const answer = await listSpend(ports)(CONTEXT, { order: 'nearest_cap', ...input })
  if (!answer.ok) throw new Error(answer.fault.message)
  return answer.value
}

/** Key `n` has spent `n` USD today, and each has a wallet of its own. */
async function fill(): Promise<void> {
  await store.write((writer) => {
    for (let n = 1; n <= WALLETS; n++) {
      writer.addSubWallet(headerOf(n, { [n]: BigInt(n) }))
      writer.putApiKey(keyOf(n))
      writer.putSpentDays(walletIdOf(n), lineageOf(n), [
        { day: utcDay(START_MS) - 40, micros: 7n * USD },
        { day: utcDay(START_MS) - 1, micros: 2n * USD },
      ])
    }
  })
}

const SUM = BigInt((WALLETS * (WALLETS + 1)) / 2)

describe('totals', () => {
  test('are of all keys, however many there are', async () => {
    await fill()
    expect(await totals()).toEqual({
      daily_resets_at: '2025-06-16T00:00:00.000Z',
      monthly_resets_at: '2025-07-01T00:00:00.000Z',
      daily_used_usd: formatUsd(SUM * USD),
      monthly_used_usd: formatUsd(2n * SUM * USD),
      reserved_usd: formatUsd(BigInt(WALLETS) * USD),
      keys_in_force: WALLETS,
      unread_wallets: 0,
    })
  })

  test('by day are the days of all keys, also of the one that is over', async () => {
    await fill()
    const before = { date: '2025-06-14', spent_usd: formatUsd(BigInt(2 * WALLETS) * USD) }
    const own = { date: '2025-06-15', spent_usd: formatUsd(SUM * USD) }
    expect((await totals(2)).days).toEqual([before, own])
    const tomorrow = await totals(3, START_MS + DAY_MS)
    expect(tomorrow.days).toEqual([before, own, { date: '2025-06-16', spent_usd: '0.00' }])
    expect(tomorrow.daily_used_usd).toBe('0.00')
  })

  test('count what a key’s own keys spend once, and what revoked ones have spent', async () => {
    await store.write((writer) => {
      writer.addSubWallet(headerOf(1, { 1: 5n, 2: 3n, 3: 10n }))
      writer.putApiKey(keyOf(1))
      const child = { subWalletId: walletIdOf(1), parentLineageId: lineageOf(1) }
      writer.putApiKey(keyOf(2, child))
      writer.putApiKey(keyOf(3, { subWalletId: walletIdOf(1), revokedAtMs: START_MS - 1 }))
    })
    expect(await totals()).toMatchObject({ daily_used_usd: '15.00', keys_in_force: 2 })
  })

  test('say of how many wallets they are not', async () => {
    await fill()
    const { root } = store.environment
    const raw = root.openDB<Buffer, string>({ name: '33-sub-wallet-marks', encoding: 'binary' })
    const bytes = Buffer.from(raw.get(walletIdOf(WALLETS)) ?? [])
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await raw.put(walletIdOf(WALLETS), bytes)
    expect(await totals()).toMatchObject({
      ...{ daily_used_usd: formatUsd((SUM - BigInt(WALLETS)) * USD), unread_wallets: 1 },
    })
  })

  test('follow every commit that there was before they were asked for', async () => {
    const change = fc.record({
      n: fc.integer({ min: 1, max: 6 }),
      usd: fc.bigInt({ min: 0n, max: 900n }),
      what: fc.constantFrom('spend', 'key', 'days', 'wallet'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const lived = await openRealStore()
        try {
          const { reader } = lived
          const kept = createAccountSpend({ reader, timers: systemTimers() })
          const known = new Set<number>()
          for (const { n, usd, what } of changes) {
            await lived.write((writer) => {
              if (what === 'wallet' || !known.has(n)) {
                known.add(n)
                writer.addSubWallet(headerOf(n, {}))
              } else if (what === 'spend') writer.putSubWalletMarks(headerOf(n, { [n]: usd }))
              else if (what === 'key') writer.putApiKey(keyOf(n, { name: `renamed ${usd}` }))
              else {
                const days = [{ day: utcDay(START_MS) - 1, micros: usd }]
                writer.putSpentDays(walletIdOf(n), lineageOf(n), days)
              }
            })
            const anew = createAccountSpend({ reader, timers: systemTimers() })
            expect(await kept.byDay(USER_ID)).toEqual(await anew.byDay(USER_ID))
          }
        } finally {
          await lived.close()
        }
      }),
      { numRuns: 25 },
    )
  })

  test('that are asked for while others are read have what was committed in between', async () => {
    await fill()
    const first = ports.accountSpend.of(USER_ID)
    await store.write((writer) => writer.putSubWalletMarks(headerOf(1, { 1: 900n })))
    const { lines } = await ports.accountSpend.of(USER_ID)
    expect(lines.find(({ key }) => key.keyId === keyIdOf(1))?.counters.dayMicros).toBe(900n * USD)
    await first
  })
})

describe('keys by how near they are to a cap', () => {
  test('come in that order, in pages of any size, and each once', async () => {
    await fill()
    const wanted = Array.from({ length: WALLETS }, (_, index) => keyIdOf(WALLETS - index))
    for (const limit of [7, 100]) {
      const ids: string[] = []
      let cursor: string | null = null
      do {
        const { keys, next_cursor } = await page({ limit, ...(cursor === null ? {} : { cursor }) })
        expect(keys.length).toBeLessThanOrEqual(limit)
        for (const { key_id } of keys) ids.push(key_id)
        cursor = next_cursor
      } while (cursor !== null)
      expect(ids).toEqual(wanted)
    }
  })

  test('are judged by the nearer of their caps, then by what they spent today', async () => {
    await store.write((writer) => {
      const put = (n: number, usd: bigint, caps: Partial<ApiKey>) => {
        writer.addSubWallet(headerOf(n, { [n]: usd }))
        writer.putApiKey(keyOf(n, caps))
      }
      const [low, none] = [10n * USD, null]
      put(1, 1n, { dailyLimitMicros: low, monthlyLimitMicros: none })
      put(2, 4n, { dailyLimitMicros: none, monthlyLimitMicros: low })
      put(3, 500n, { dailyLimitMicros: none, monthlyLimitMicros: none })
      put(4, 600n, { dailyLimitMicros: none, monthlyLimitMicros: none })
      put(5, 99n, { revokedAtMs: START_MS - 1 })
      put(6, 1n, { dailyLimitMicros: 0n })
    })
    const ids = (await page({})).keys.map(({ key_id }) => key_id)
    expect(ids).toEqual([6, 2, 1, 4, 3].map(keyIdOf))
    const found = await page({ search: 'agent 4', days: 2 })
    expect(found.keys).toMatchObject([{ key_id: keyIdOf(4), days: [{}, { spent_usd: '600.00' }] }])
  })

  test('of a line of rotations are the newest one', async () => {
    await store.write((writer) => {
      writer.addSubWallet(headerOf(1, { 1: 5n }))
      const line = { lineageId: lineageOf(1), subWalletId: walletIdOf(1) }
      writer.putApiKey(keyOf(1, { ...line, rotatedAtMs: START_MS - 1 }))
      writer.putApiKey(keyOf(2, { ...line, rotatedFrom: keyIdOf(1) }))
    })
    expect((await page({})).keys.map(({ key_id }) => key_id)).toEqual([keyIdOf(2)])
  })

  test('take no cursor of another order', async () => {
    await fill()
    const input = { order: 'nearest_cap', cursor: keyIdOf(4) } as const
    const answer = await listSpend(ports)(CONTEXT, input)
    expect(answer).toMatchObject({ ok: false, fault: { code: 'INVALID_REQUEST' } })
  })
})
