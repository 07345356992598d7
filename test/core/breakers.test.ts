import { beforeEach, describe, expect, test } from 'vitest'
import type { Effect } from '../../actors/sub-wallet/core/messages.js'
import { fault } from '../../src/errors/fault.js'
import type { Breaker } from '../../src/policy/policy.js'
import {
  apiKey,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import { policyOf } from '../policy/random-policies.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

const CAP = 1_000n
let world: WalletWorld

async function give(breakers: readonly object[]): Promise<void> {
  const policy = policyOf({ default: 'allow', breakers })
  world = await openWallet(CAP)
  const key = apiKey({ policy, dailyLimitMicros: CAP, monthlyLimitMicros: CAP })
  await world.handle({ type: 'register-key', key })
  world.pending = []
}

const trips = () =>
  world.pending.filter((it): it is Extract<Effect, { type: 'trip' }> => it.type === 'trip')

async function refuse(n: number, code: 'LIMIT_EXCEEDED' | 'CHAIN_UNAVAILABLE'): Promise<void> {
  const nowMs = START_MS + n
  const { length } = world.pending
  if (code === 'LIMIT_EXCEEDED') await world.handle(preparedSend(n, CAP + 1n, { nowMs }), n)
  else
    await world.handle(preparedSend(n, 1n, { nowMs, quote: { ok: false, fault: fault(code) } }), n)
  expect(world.pending.slice(length)).toContainEqual(
    expect.objectContaining({ type: 'refused', fault: expect.objectContaining({ code }) }),
  )
}

async function sign(n: number, nowMs = START_MS + n): Promise<void> {
  await world.handle(preparedSend(n, 10n, { nowMs, to: `0x${String(n).padStart(40, '0')}` }), n)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId: txIdOf(n), ...screened, nowMs })
  const bytes = { txHash: `0x${n}`, rawTransaction: '0x01', intentId: `0x${n}` } as const
  const signed = { ...bytes, signedAtMs: nowMs }
  await world.handle({ type: 'signed', txId: txIdOf(n), nonce: n - 1, signed, nowMs })
  expect(world.state.open.has(txIdOf(n))).toBe(true)
}

/** Entries of the store. */
function size(): number {
  let entries = 0
  for (const _ of world.environment.spaces.policyLedgers.getRange({})) entries++
  return entries
}

describe('a breaker of refusals', () => {
  beforeEach(() => give([{ kind: 'refusals', count: 3, per_seconds: 60 }]))

  test('freezes the key at its count, with the figures, and not before', async () => {
    for (const n of [1, 2]) await refuse(n, 'LIMIT_EXCEEDED')
    expect(trips()).toEqual([])
    await refuse(3, 'LIMIT_EXCEEDED')
    expect(trips()).toMatchObject([
      {
        ...{ keyId: KEY_ID, lineageId: LINEAGE_ID, nowMs: START_MS + 3, requestId: 'request-3' },
        reason: 'breaker: 3 refusals in 60 s, where 3 are too many',
      },
    ])
  })

  test("is not moved by what is not the key's doing", async () => {
    for (const n of [1, 2, 3, 4, 5]) await refuse(n, 'CHAIN_UNAVAILABLE')
    expect(trips()).toEqual([])
  })

  test('costs no write for a flood of them', async () => {
    const before = size()
    for (let n = 1; n <= 50; n++) {
      const decision = await world.handle(preparedSend(n, CAP + 1n, { nowMs: START_MS + n }), n)
      expect(decision.events.every(({ type }) => type.startsWith('breaker'))).toBe(true)
    }
    expect(trips()).toHaveLength(16)
    expect(size()).toBe(before)
    expect(world.loaded().refusals.size).toBe(0)
  })
})

describe('breakers of signed calls', () => {
  test('know after a restart what they had counted', async () => {
    await give([{ kind: 'new_beneficiaries', count: 3, per_seconds: 60 }])
    const payees = { times: new Map(), openAtRead: [] }
    await world.handle(preparedSend(9, CAP + 1n, { nowMs: START_MS, payees }), 9)
    for (const n of [1, 2]) await sign(n)
    expect(trips()).toEqual([])
    world.restart()
    const openAtRead = [...world.state.open.keys()]
    await world.handle(
      preparedSend(9, CAP + 1n, { nowMs: START_MS, payees: { times: new Map(), openAtRead } }),
      9,
    )
    await sign(3)
    expect(trips()).toMatchObject([{ reason: expect.stringContaining('3 new beneficiaries') }])
    expect(world.loaded().policyLedgers.get(LINEAGE_ID)?.breakers).toBeUndefined()
  })

  test('count a payee once', async () => {
    await give([{ kind: 'new_beneficiaries', count: 2, per_seconds: 60 }])
    const payees = { times: new Map(), openAtRead: [] }
    await world.handle(preparedSend(9, CAP + 1n, { nowMs: START_MS, payees }), 9)
    await sign(1)
    const to = `0x${'1'.padStart(40, '0')}` as const
    const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
    const at = { txId: txIdOf(2), nowMs: START_MS + 2 } as const
    await world.handle(preparedSend(2, 10n, { nowMs: at.nowMs, to }), 2)
    await world.handle({ type: 'screened', ...at, ...screened })
    const signed = { txHash: '0x2', rawTransaction: '0x01', intentId: '0x2' } as const
    await world.handle({
      ...{ type: 'signed', ...at, nonce: 1 },
      signed: { ...signed, signedAtMs: at.nowMs },
    })
    expect(trips()).toEqual([])
  })

  test('hold the spend of a time against the mean of those before', async () => {
    await give([{ kind: 'spend_factor', factor: 2, per_seconds: 60 }])
    for (const n of [1, 2, 3, 4, 5]) await sign(n, START_MS + n * 60_000)
    expect(trips()).toEqual([])
    for (const n of [6, 7, 8]) await sign(n, START_MS + 360_000 + n)
    expect(trips()).toMatchObject([{ reason: expect.stringContaining('times the mean') }])
  })
})

describe('breakers of the user', () => {
  const told = () => world.pending.filter(({ type }) => type === 'watched')

  test('are told of what is signed and refused, with whom the wallet had not paid before', async () => {
    await give([])
    world.state.userWatch = { refused: true, signed: true, payees: true }
    world.state.payees = new Map([[`0x${'1'.padStart(40, '0')}` as const, 1]])
    for (const n of [1, 2]) await sign(n)
    await refuse(3, 'LIMIT_EXCEEDED')
    await refuse(4, 'CHAIN_UNAVAILABLE')
    expect(told()).toMatchObject([
      { keyId: KEY_ID, seen: { type: 'signed', newPayees: [] } },
      { seen: { type: 'signed', newPayees: [`0x${'2'.padStart(40, '0')}`] } },
      { requestId: 'request-3', seen: { type: 'refused', atMs: START_MS + 3 } },
    ])
  })

  test('are told nothing where the user has none, or none that looks at it', async () => {
    await give([])
    await sign(1)
    world.state.userWatch = { refused: false, signed: true, payees: false }
    await refuse(2, 'LIMIT_EXCEEDED')
    expect(told()).toEqual([])
  })
})

test('a key without breakers counts nothing', async () => {
  const none: readonly Breaker[] = []
  await give(none)
  await sign(1)
  for (const n of [2, 3, 4]) await refuse(n, 'LIMIT_EXCEEDED')
  expect(trips()).toEqual([])
  expect(world.state.refusals.size).toBe(0)
  expect(world.state.policyLedgers.size).toBe(0)
})
