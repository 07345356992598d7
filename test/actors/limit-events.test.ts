import { beforeEach, expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Event } from '../../actors/sub-wallet/core/messages.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { openRealStore } from './real-store.js'
import {
  apiKey,
  GAS_MICROS,
  KEY_ID,
  preparedSend,
  START_MS,
  txIdOf,
  USER_ID,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const DAY_MS = 86_400_000
const signed = { txHash: '0xaa', rawTransaction: '0xaa', intentId: '0xaa', signedAtMs: 0 } as const

let state: SubWalletState
let sends: number
let told: string[]
/** Of commands that are not recorded yet. */
let events: Event[]

beforeEach(() => {
  state = emptyState(WALLET_ID)
  sends = 0
  told = []
  events = []
})

function open(caps: Partial<ApiKey>): void {
  run({ type: 'create-wallet', wallet })
  run({ type: 'register-key', key: apiKey({ monthlyLimitMicros: null, ...caps }) })
}

function run(command: Command): void {
  const isLimit = (event: Event) => event.type === 'limit-reached'
  const { events: happened } = decide(state, command, 1)
  events.push(...happened)
  for (const event of happened.filter(isLimit)) {
    told.push(`${event.mark.period} ${event.mark.percent} at ${event.usedMicros}`)
  }
}

/** Asks for a send of so much, gas included; without `stored` it stays a reservation. */
function ask(micros: bigint, nowMs = START_MS): number {
  run(preparedSend(++sends, micros - GAS_MICROS, { nowMs }))
  return sends
}

function store(n: number, nowMs = START_MS): void {
  const txId = txIdOf(n)
  run({ type: 'screened', txId, refusal: null, screenedAgainst: [], requoted: null, nowMs })
  run({ type: 'signed', txId, nonce: n - 1, signed, nowMs })
}

/** Mined and reverted: its value is released, its gas (here none) kept. */
function fail(n: number): void {
  const mined: MinedIn = {
    ...{ blockNumber: 1, blockHash: '0xbb', txHash: '0xaa', outcome: 'reverted', feeWei: 0n },
  }
  run({ type: 'confirmed', txId: txIdOf(n), mined, nowMs: START_MS })
}

test('80 % and 100 % of a cap are announced once, by what they name', () => {
  open({ dailyLimitMicros: 100n })
  store(ask(79n))
  expect(told).toEqual([])
  store(ask(10n))
  expect(told).toEqual(['daily 80 at 89'])
  store(ask(11n))
  expect(told).toEqual(['daily 80 at 89', 'daily 100 at 100'])
})

test('a use that settles below a mark and passes it again is not reported twice', () => {
  open({ dailyLimitMicros: 100n })
  store(ask(40n))
  store(ask(45n))
  expect(told).toEqual(['daily 80 at 85'])
  fail(2)
  store(ask(45n))
  expect(told).toEqual(['daily 80 at 85'])
})

test('reservations that race are announced once', () => {
  open({ dailyLimitMicros: 100n })
  const both = [ask(45n), ask(45n)]
  for (const n of both) store(n)
  expect(told).toEqual(['daily 80 at 90'])
})

test('the next window and another cap are reported again', () => {
  open({ dailyLimitMicros: 100n })
  store(ask(90n))
  const patch = { dailyLimitMicros: 200n }
  const of = { keyId: KEY_ID, rotatedFrom: null, patch }
  run({ type: 'claim-grant', claimId: 'claim', of, nowMs: START_MS })
  run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: 'claim', nowMs: START_MS })
  store(ask(80n))
  store(ask(160n, START_MS + DAY_MS), START_MS + DAY_MS)
  expect(told).toEqual(['daily 80 at 90', 'daily 80 at 170', 'daily 80 at 160'])
})

test('the first call that a nearly used cap turns away tells that it is used up', () => {
  open({ dailyLimitMicros: 100n, monthlyLimitMicros: 500n })
  ask(101n)
  expect(told).toEqual([])
  store(ask(95n))
  ask(GAS_MICROS)
  ask(GAS_MICROS)
  expect(told).toEqual(['daily 80 at 95', 'daily 100 at 95'])
})

test('a restart forgets nothing that was announced', async () => {
  const real = await openRealStore()
  try {
    open({ dailyLimitMicros: 100n })
    store(ask(90n))
    await real.write((writer) => recordEvents(writer, state, events))
    state = loadState(real.reader, WALLET_ID)
    store(ask(5n))
    expect(told).toEqual(['daily 80 at 90'])
    events = []
    ask(GAS_MICROS)
    await real.write((writer) => recordEvents(writer, state, events))
    state = loadState(real.reader, WALLET_ID)
    ask(GAS_MICROS)
    expect(told).toEqual(['daily 80 at 90', 'daily 100 at 95'])
    const [first] = real.reader.events.ofUser(USER_ID, 0, Number.MAX_SAFE_INTEGER)
    expect(first?.data).toMatchObject({ percent: 80, period: 'daily', used_usd: '0.00009' })
  } finally {
    await real.close()
  }
})

test('a cap of nothing tells nothing', () => {
  open({ dailyLimitMicros: 0n })
  ask(GAS_MICROS)
  expect(told).toEqual([])
})
