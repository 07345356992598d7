import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addToLedger, NO_POLICY_LEDGER, type PolicyLedger } from '../../src/policy/policy-ledger.js'
import { applyRows } from '../../src/store/apply-rows.js'
import type { KeySpace } from '../../src/store/key-spaces.js'
import { addLedger, removeLedger } from '../../src/store/policy-ledger-rows.js'
import { createReader } from '../../src/store/reader.js'
import type { Row } from '../../src/store/rows.js'
import { createMemoryEnvironment } from './memory-environment.js'
import { openRealStore } from './real-store.js'
import { LINEAGE_ID, START_MS, WALLET_ID } from './wallet-fixtures.js'

const PLACE = [WALLET_ID, LINEAGE_ID] as const
const TIMES = [60, 3_600, 86_400]

const counted = (ledger: PolicyLedger, seconds: number, times = TIMES) =>
  addToLedger(ledger, { atMs: START_MS + seconds * 1_000, micros: 5n, taken: [] }, times, [])

function rowsOf(ledger: PolicyLedger, before: PolicyLedger): Row[] {
  const rows: Row[] = []
  addLedger(rows, PLACE, ledger, before)
  return rows
}

const named = (rows: readonly Row[]): [KeySpace, unknown, boolean][] =>
  rows.map(([space, key, value]) => [
    space,
    Array.isArray(key) ? key[2] : undefined,
    value !== null,
  ])

test('a call writes a sliding time only where a bucket of it closes, and one that is over goes', () => {
  const first = counted(NO_POLICY_LEDGER, 0)
  expect(named(rowsOf(first, NO_POLICY_LEDGER))).toEqual([
    ['policyLedgers', undefined, true],
    ...TIMES.map((perSeconds) => ['policyWindows', perSeconds, true]),
  ])
  const second = counted(first, 0.1)
  expect(named(rowsOf(second, first))).toEqual([['policyLedgers', undefined, true]])
  const third = counted(second, 5)
  expect(named(rowsOf(third, second))).toEqual([
    ['policyLedgers', undefined, true],
    ['policyWindows', 60, true],
  ])
  // A policy that no longer asks for them; the hour has not passed.
  const other = counted(third, 600, [86_400])
  expect(named(rowsOf(other, third))).toContainEqual(['policyWindows', 60, false])
  expect(other.windows.map(({ perSeconds }) => perSeconds)).toEqual([86_400, 3_600])
})

test('what is written of a ledger is what it is, and nothing of one that is forgotten stays', async () => {
  const call = fc.record({
    seconds: fc.oneof(fc.nat(3), fc.nat(100), fc.nat(100_000)),
    micros: fc.oneof(fc.bigInt(0n, 10n ** 6n), fc.constant(2n ** 63n), fc.constant(2n ** 70n)),
    times: fc.subarray([1, 60, 600, 3_600, 86_400]),
    isForgotten: fc.nat(20).map((one) => one === 0),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
      const environment = createMemoryEnvironment()
      const reader = createReader(environment)
      let [ledger, atMs] = [NO_POLICY_LEDGER, START_MS]
      for (const { seconds, micros, times, isForgotten } of calls) {
        const before = ledger
        const rows: Row[] = []
        atMs += seconds * 300
        ledger = isForgotten
          ? NO_POLICY_LEDGER
          : addToLedger(before, { atMs, micros, taken: [] }, times, [])
        if (isForgotten) removeLedger(rows, PLACE, before)
        else addLedger(rows, PLACE, ledger, before)
        await applyRows(environment, rows)
        const stored = [...reader.keys.policyLedgersOf(WALLET_ID)]
        expect(stored).toStrictEqual(isForgotten ? [] : [[LINEAGE_ID, ledger]])
        const kept = [...environment.spaces.policyWindows.getKeys({})]
        expect(kept).toHaveLength(ledger.windows.length)
      }
    }),
    { numRuns: 60 },
  )
})

test('a sliding time that is gone, or of another moment, is never taken for the ledger’s', async () => {
  const store = await openRealStore()
  try {
    const { environment, reader } = store
    const read = () => [...reader.fresh().keys.policyLedgersOf(WALLET_ID)]
    const before = counted(NO_POLICY_LEDGER, 0)
    const ledger = counted(before, 5)
    await applyRows(environment, rowsOf(before, NO_POLICY_LEDGER))
    const key = [WALLET_ID, LINEAGE_ID, 60]
    const early = rowsOf(before, NO_POLICY_LEDGER).filter(([space]) => space === 'policyWindows')
    await applyRows(environment, rowsOf(ledger, before))
    expect(read()).toStrictEqual([[LINEAGE_ID, ledger]])
    await applyRows(environment, early)
    expect(read).toThrow(/policyWindows/)
    await applyRows(environment, rowsOf(ledger, NO_POLICY_LEDGER))
    expect(read()).toStrictEqual([[LINEAGE_ID, ledger]])
    await applyRows(environment, [['policyWindows', key, null]])
    expect(read).toThrow(/policyWindows/)
  } finally {
    await store.close()
  }
})
