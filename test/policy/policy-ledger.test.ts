import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TOKEN_FUNCTIONS } from '../../src/contracts/functions/tokens.js'
import { showCall } from '../../src/policy/call-shown.js'
import { ceilingBreach, ceilingDenial, unitsTaken } from '../../src/policy/ceilings.js'
import { selectorOf } from '../../src/policy/function-signature.js'
import type { Ceiling } from '../../src/policy/policy.js'
import {
  addToLedger,
  countedWithin,
  freesAt,
  isLedgerOver,
  NO_POLICY_LEDGER,
  type PolicyLedger,
  returnUnits,
  unitsUsed,
} from '../../src/policy/policy-ledger.js'
import { BUCKETS } from '../../src/policy/sliding-buckets.js'
import { TOKEN_CALLS } from '../../src/policy/token-calls.js'
import { PAYEES, policyOf, transferData, USDC } from './random-policies.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOON = Date.UTC(2026, 0, 31, 12)
const [ALICE = '0x'] = PAYEES
const policy = policyOf({
  default: 'allow',
  ceilings: [
    { chain_id: 8453, token: USDC, per: 'day', amount: '100' },
    { chain_id: 8453, token: USDC, per: 'month', amount: '150' },
    { chain_id: 8453, token: 'native', per: 'day', amount: '10' },
  ],
})
const [perDay, perMonth] = policy.ceilings

const transfer = (amount: bigint, value = 0n) =>
  showCall({
    ...{ operation: 'send', chainId: 8453, to: USDC, value },
    data: transferData(ALICE, amount),
  })

function spend(ledger: PolicyLedger, amount: bigint, atMs: number): PolicyLedger {
  const taken = unitsTaken(policy, transfer(amount)) ?? []
  return addToLedger(ledger, { atMs, micros: 0n, taken }, [], policy.ceilings)
}

test('a sliding time never counts less than went before, and at most 1/64 of it longer', () => {
  const times = fc.array(fc.nat(4 * HOUR_MS), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(times, (unsorted) => {
      const atMs = unsorted.sort((a, b) => a - b)
      let ledger = NO_POLICY_LEDGER
      for (const [index, at] of atMs.entries()) {
        ledger = addToLedger(ledger, { atMs: at, micros: 2n, taken: [] }, [3_600], [])
        const counted = countedWithin(ledger, 3_600, at)
        const since = (ms: number) => atMs.slice(0, index + 1).filter((one) => one > at - ms).length
        expect(counted.count).toBeGreaterThanOrEqual(since(HOUR_MS))
        expect(counted.count).toBeLessThanOrEqual(since(HOUR_MS + HOUR_MS / BUCKETS))
        expect(counted.micros).toBe(BigInt(counted.count) * 2n)
        expect(ledger.windows[0]?.slide.closed.length).toBeLessThanOrEqual(BUCKETS + 1)
      }
    }),
    { numRuns: 100 },
  )
})

test('each sliding time counts as if it were alone, from the call after which there is one', () => {
  const call = fc.record({
    afterMs: fc.oneof(fc.nat(500), fc.nat(60_000), fc.nat(HOUR_MS)),
    micros: fc.bigInt(0n, 10n ** 12n),
    times: fc.subarray([1, 60, 3_600]),
  })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 200 }), (calls) => {
      let together = NO_POLICY_LEDGER
      const alone = new Map([1, 60, 3_600].map((one) => [one, NO_POLICY_LEDGER]))
      let atMs = NOON
      for (const { afterMs, micros, times } of calls) {
        atMs += afterMs
        const one = { atMs, micros, taken: [] }
        together = addToLedger(together, one, times, [])
        for (const [perSeconds, ledger] of alone) {
          const asked = times.includes(perSeconds) ? [perSeconds] : []
          const after = addToLedger(ledger, one, asked, [])
          alone.set(perSeconds, after)
          for (const nowMs of [atMs, atMs + afterMs / 2, atMs + perSeconds * 900]) {
            const [own, shared] = [after, together].map((of) => [
              countedWithin(of, perSeconds, nowMs),
              freesAt(of, [], perSeconds, ({ count }) => count <= 1),
            ])
            expect(shared).toEqual(own)
          }
        }
      }
    }),
    { numRuns: 50 },
  )
})

test('what it says frees at a time is free then, and not before', () => {
  let ledger = NO_POLICY_LEDGER
  for (const at of [0, 1_000, 2_000]) {
    ledger = addToLedger(ledger, { atMs: NOON + at, micros: 1n, taken: [] }, [60], [])
  }
  const drafted = [{ atMs: NOON + 500, micros: 1n, taken: [] }]
  expect(freesAt(ledger, drafted, 60, ({ count }) => count <= 2)).toBe(NOON + 60_500)
  const at = freesAt(ledger, [], 60, ({ count }) => count <= 1) ?? 0
  expect(countedWithin(ledger, 60, at).count).toBe(1)
  expect(countedWithin(ledger, 60, at - 1).count).toBe(2)
  expect(freesAt(ledger, [], 60, () => false)).toBeNull()
  // What is within its bound is refused for something that time does not change.
  expect(freesAt(ledger, [], 60, ({ count }) => count <= 3)).toBeNull()
})

test('units count in their day and month, and a new one begins at zero', () => {
  if (perDay === undefined || perMonth === undefined) throw new Error('no ceilings')
  const ledger = spend(spend(NO_POLICY_LEDGER, 60n, NOON), 30n, NOON)
  expect(unitsUsed(ledger, perDay, NOON)).toBe(90n)
  const breach = ceilingBreach(policy, unitsTaken(policy, transfer(11n)) ?? [], (ceiling) =>
    unitsUsed(ledger, ceiling, NOON),
  )
  expect(breach).toMatchObject({ ceiling: { per: 'day' }, used: 90n, requested: 11n })
  // The last day of January.
  expect(unitsUsed(ledger, perMonth, NOON)).toBe(90n)
  expect(unitsUsed(ledger, perDay, NOON + DAY_MS)).toBe(0n)
  expect(unitsUsed(ledger, perMonth, NOON + DAY_MS)).toBe(0n)
  expect(isLedgerOver(ledger, NOON)).toBe(false)
  expect(isLedgerOver(ledger, NOON + DAY_MS)).toBe(true)
})

test('a refusal for units names the ceiling that is in the way for longest, and what fits all', () => {
  const ledger = spend(spend(NO_POLICY_LEDGER, 70n, NOON - DAY_MS), 60n, NOON)
  const usedOf = (ceiling: Ceiling) => unitsUsed(ledger, ceiling, NOON)
  const refused = (amount: bigint, value = 0n) => {
    const breach = ceilingBreach(policy, unitsTaken(policy, transfer(amount, value)) ?? [], usedOf)
    return breach === null ? null : ceilingDenial(policy, breach, usedOf, NOON)
  }
  expect(refused(20n)).toBeNull()
  expect(refused(21n)).toMatchObject({
    ...{ field: `${USDC} on chain 8453 a month`, observed: '151', permitted: '150' },
    ...{ retryAt: '2026-02-01T00:00:00.000Z' },
    suggestion: 'At most 20 (smallest units) fit now; the month ends at retry_at.',
  })
  // Past the day as well, which ends sooner.
  expect(refused(41n)).toMatchObject({ field: `${USDC} on chain 8453 a month` })
  // More than a whole day's: no later day has room for it.
  expect(refused(101n)).toMatchObject({
    ...{ field: `${USDC} on chain 8453 a day`, retryAt: null },
    suggestion: 'At most 20 (smallest units) fit now, and 100 in a whole day.',
  })
  expect(refused(1n, 11n)).toMatchObject({ field: 'native on chain 8453 a day', retryAt: null })
})

test('a clock that steps back hands out no spent units again', () => {
  if (perDay === undefined) throw new Error('no ceiling')
  const ledger = spend(spend(NO_POLICY_LEDGER, 60n, NOON), 30n, NOON - 2 * DAY_MS)
  expect(unitsUsed(ledger, perDay, NOON)).toBe(90n)
  expect(unitsUsed(ledger, perDay, NOON - 2 * DAY_MS)).toBe(90n)
})

test('a call that moved nothing in the end gives its units back, in its own windows', () => {
  if (perDay === undefined || perMonth === undefined) throw new Error('no ceilings')
  const early = Date.UTC(2026, 0, 5, 12)
  const ledger = spend(spend(NO_POLICY_LEDGER, 60n, early), 30n, early + DAY_MS)
  const back = returnUnits(ledger, early, unitsTaken(policy, transfer(60n)) ?? [])
  expect(unitsUsed(back, perDay, early + DAY_MS)).toBe(30n)
  expect(unitsUsed(back, perMonth, early + DAY_MS)).toBe(30n)
})

test('calldata that cannot be read could take any units of its chain', () => {
  const unknown = { operation: 'send', to: ALICE, value: 0n, data: '0xdeadbeef' } as const
  expect(unitsTaken(policy, showCall({ ...unknown, chainId: 8453 }))).toBeNull()
  expect(unitsTaken(policy, showCall({ ...unknown, chainId: 1 }))).toEqual([])
  expect(unitsTaken(policy, transfer(5n, 3n))).toEqual([
    { chainId: 8453, token: USDC, amount: 5n },
    { chainId: 8453, token: 'native', amount: 3n },
  ])
})

test('amounts are read of the tokens’ functions that do one thing, and of no other', () => {
  const known = TOKEN_FUNCTIONS.flatMap(({ selector, signature, effect }) => {
    if (effect.kind !== 'outflow' && effect.kind !== 'approval') return []
    if (effect.alone !== true) return []
    const payee = [...signature.matchAll(/(?:\(|, )[\w:]+ (\w+)/g)].findIndex(
      ([, name]) => name === 'to' || name === 'spender',
    )
    return [[`0x${selector}`, { payee, amount: effect.amount }] as const]
  })
  const read = Object.entries(TOKEN_CALLS).map(([text, row]) => [selectorOf(text), row] as const)
  expect(Object.fromEntries(read)).toEqual(Object.fromEntries(known))
})
