import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  adjustOnPath,
  reserveOnPath,
  settleOnPath,
  unsettleOnPath,
} from '../../actors/sub-wallet/core/path-spend.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { LineageId } from '../../src/domain/ids.js'
import { type Reservation, utcDay, utcMonth } from '../../src/domain/spend.js'
import { addToDay, SPENT_DAYS_MAX } from '../../src/domain/spent-days.js'
import { createAccountSpend } from '../../src/operations/console/account-spend.js'
import { listSpend } from '../../src/operations/console/spend.js'
import { openWallet } from '../core/wallet-world.js'
import { openRealStore, type RealStore } from './real-store.js'
import { apiKey, LINEAGE_ID, START_MS, USER_ID, WALLET_ID, wallet } from './wallet-fixtures.js'

const DAY_MS = 86_400_000
const CHILD = 'key_00000000000000000000000009' as LineageId
const PERSON = { userId: USER_ID, personId: USER_ID, role: 'owner' } as const
const CONTEXT = { requestId: 'r', ...PERSON, email: null, token: '', presentedKey: null }

const reservationAt = (nowMs: number, micros: bigint): Reservation => ({
  ...{ micros, day: utcDay(nowMs), month: utcMonth(nowMs) },
})

function total({ spend, spentDays }: SubWalletState, lineageId: LineageId): bigint {
  const before = spentDays.get(lineageId) ?? []
  const today = spend.get(lineageId)?.dayMicros ?? 0n
  return before.reduce((sum, { micros }) => sum + micros, today)
}

interface Held {
  readonly reservation: Reservation
  readonly spentMicros: bigint
  readonly isSettled: boolean
}

const STEP = fc.record({
  what: fc.constantFrom('reserve', 'settle', 'unsettle', 'adjust', 'day' as const),
  which: fc.nat(50),
  micros: fc.bigInt(0n, 1_000n),
})

describe('what a lineage spent by day', () => {
  test('is in all what is reserved and settled, whenever it settles, and the same above it', () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 80 }), (steps) => {
        const state = emptyState(WALLET_ID)
        state.parents.set(CHILD, LINEAGE_ID)
        const held: Held[] = []
        const byDay = new Map<number, bigint>()
        const count = (day: number, micros: bigint) =>
          byDay.set(day, (byDay.get(day) ?? 0n) + micros)
        let nowMs = START_MS
        let days = 0
        for (const { what, which, micros } of steps) {
          const at = held.length === 0 ? 0 : which % held.length
          const one = held[at]
          if (what === 'day' && days < SPENT_DAYS_MAX - 1) {
            nowMs += DAY_MS
            days++
          } else if (what === 'reserve') {
            const reservation = reservationAt(nowMs, micros)
            reserveOnPath(state, CHILD, reservation, nowMs)
            held.push({ reservation, spentMicros: 0n, isSettled: false })
            count(reservation.day, micros)
          } else if (one === undefined) continue
          else if (what === 'settle' && !one.isSettled) {
            settleOnPath(state, CHILD, one.reservation, micros)
            count(one.reservation.day, micros - one.reservation.micros)
            held[at] = { ...one, spentMicros: micros, isSettled: true }
          } else if (what === 'unsettle' && one.isSettled) {
            unsettleOnPath(state, CHILD, one.reservation, one.spentMicros)
            count(one.reservation.day, one.reservation.micros - one.spentMicros)
            held[at] = { ...one, isSettled: false }
          } else if (what === 'adjust' && !one.isSettled) {
            adjustOnPath(state, CHILD, one.reservation, micros)
            count(one.reservation.day, micros)
            const { reservation } = one
            const more = { ...reservation, micros: reservation.micros + micros }
            held[at] = { ...one, reservation: more }
          }
        }
        const sum = [...byDay.values()].reduce((all, micros) => all + micros, 0n)
        for (const lineageId of [CHILD, LINEAGE_ID]) {
          expect(total(state, lineageId)).toBe(sum)
          for (const { day, micros } of state.spentDays.get(lineageId) ?? []) {
            expect(micros, `day ${day}`).toBe(byDay.get(day))
          }
        }
      }),
    )
  })

  test('keeps the newest days, in order, and none below zero', () => {
    let days = addToDay([], 100, 5n)
    days = addToDay(days, 98, 3n)
    days = addToDay(days, 100, -5n)
    days = addToDay(days, 98, -7n)
    expect(days).toEqual([])
    for (let day = 200; day > 100; day--) days = addToDay(days, day, BigInt(day))
    expect(days).toHaveLength(SPENT_DAYS_MAX)
    expect(days.at(-1)).toEqual({ day: 200, micros: 200n })
    expect(days[0]).toEqual({ day: 201 - SPENT_DAYS_MAX, micros: BigInt(201 - SPENT_DAYS_MAX) })
  })

  test('costs a send of a day that runs nothing to write', () => {
    const state = emptyState(WALLET_ID)
    for (let n = 0; n < 3; n++) {
      const reservation = reservationAt(START_MS, 10n)
      reserveOnPath(state, LINEAGE_ID, reservation, START_MS)
      settleOnPath(state, LINEAGE_ID, reservation, 9n)
      expect(state.changedDays.size).toBe(0)
    }
    reserveOnPath(state, LINEAGE_ID, reservationAt(START_MS + DAY_MS, 1n), START_MS + DAY_MS)
    expect([...state.changedDays]).toEqual([LINEAGE_ID])
    expect(state.spentDays.get(LINEAGE_ID)).toEqual([{ day: utcDay(START_MS), micros: 27n }])
  })
})

test('is kept when the counters of a key that is no more are forgotten', async () => {
  const world = await openWallet(1_000n)
  const { state } = world
  const reservation = reservationAt(START_MS, 40n)
  reserveOnPath(state, LINEAGE_ID, reservation, START_MS)
  settleOnPath(state, LINEAGE_ID, reservation, 30n)
  await world.handle({ type: 'revoke-key', keyId: apiKey().keyId, nowMs: START_MS })
  const later = START_MS + 40 * DAY_MS
  await world.handle({
    type: 'register-key',
    key: apiKey({ keyId: CHILD as never, lineageId: CHILD, createdAtMs: later }),
  })
  expect(state.spend.has(LINEAGE_ID), 'forgotten').toBe(false)
  expect(world.loaded().spentDays.get(LINEAGE_ID)).toEqual([{ day: utcDay(START_MS), micros: 30n }])
})

describe('the console is told', () => {
  let store: RealStore
  beforeAll(async () => {
    store = await openRealStore()
    const counters = { day: utcDay(START_MS), dayMicros: 70n, monthMicros: 120n, month: 0 }
    await store.write((writer) => {
      writer.addSubWallet({
        wallet,
        lanes: [],
        open: [],
        spend: [
          {
            lineageId: LINEAGE_ID,
            counters: { ...counters, month: utcMonth(START_MS), reservedMicros: 0n },
          },
        ],
      })
      writer.putApiKey(apiKey())
      writer.putSpentDays(WALLET_ID, LINEAGE_ID, [
        { day: utcDay(START_MS) - 40, micros: 3n },
        { day: utcDay(START_MS) - 2, micros: 50n },
      ])
    })
  })
  afterAll(() => store?.close())

  async function daysAt(nowMs: number, days: number) {
    const list = listSpend({ ...portsOf(store), nowMs: () => nowMs })
    const answer = await list(CONTEXT, { days })
    if (!answer.ok) throw new Error(answer.fault.code)
    const [key] = answer.value.keys
    return { days: key?.days, used: key?.daily_used_usd }
  }

  test('of every day it asks for, today last and as the cap counts it', async () => {
    expect(await daysAt(START_MS, 4)).toEqual({
      used: '0.00007',
      days: [
        { date: '2025-06-12', spent_usd: '0.00' },
        { date: '2025-06-13', spent_usd: '0.00005' },
        { date: '2025-06-14', spent_usd: '0.00' },
        { date: '2025-06-15', spent_usd: '0.00007' },
      ],
    })
  })

  test('of a day that is over, though nothing was sent since', async () => {
    expect(await daysAt(START_MS + 2 * DAY_MS, 3)).toEqual({
      used: '0.00',
      days: [
        { date: '2025-06-15', spent_usd: '0.00007' },
        { date: '2025-06-16', spent_usd: '0.00' },
        { date: '2025-06-17', spent_usd: '0.00' },
      ],
    })
  })

  test('of no day that it does not ask for', async () => {
    const list = listSpend({ ...portsOf(store), nowMs: () => START_MS })
    const answer = await list(CONTEXT, {})
    expect(answer.ok && answer.value.keys[0]).not.toHaveProperty('days')
  })
})

function portsOf({ reader }: RealStore) {
  return { reader, accountSpend: createAccountSpend({ reader, timers: systemTimers() }) }
}
