import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { SubWalletReplies } from '../../actors/sub-wallet/core/replies.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { Call } from '../../src/domain/call.js'
import type { Address, Hex, TxId } from '../../src/domain/ids.js'
import { policyOf, transferData, USDC } from '../policy/random-policies.js'
import { openRealStore, type RealStore } from './real-store.js'
import {
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  KEY_ID,
  preparedSend,
  START_MS,
  txIdOf,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const ALICE: Address = '0x2222222222222222222222222222222222222222'
const BOB: Address = '0x3333333333333333333333333333333333333333'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const TOKEN = 1 as never

let state: SubWalletState

beforeEach(() => {
  state = emptyState(WALLET_ID)
  run({ type: 'create-wallet', wallet })
})

function run(command: Command) {
  return decide(state, command, TOKEN)
}

function keyWith(policy: object, said: Partial<ApiKey> = {}): void {
  const key = apiKey({
    dailyLimitMicros: null,
    monthlyLimitMicros: null,
    policy: policyOf({ default: 'allow', ...policy }),
    ...said,
  })
  run({ type: 'register-key', key })
}

type Said = Parameters<typeof preparedSend>[2] & Partial<Call>

/** Why it was refused; null once it is let through to the screening. */
function send(n: number, { to, value, data, ...said }: Said = {}, micros = 100n) {
  const prepared = preparedSend(n, micros)
  const call: Call = {
    ...prepared.call,
    ...(to === undefined ? {} : { to }),
    ...(value === undefined ? {} : { value }),
    ...(data === undefined ? {} : { data }),
  }
  const { replies, effects } = run({ ...prepared, chainNonce: 0, ...said, call })
  const refused = replies.find(({ result }) => !result.ok)?.result
  if (refused !== undefined && !refused.ok) return refused.fault
  expect(effects.some(({ type }) => type === 'screen')).toBe(true)
  return null
}

const transfer = (amount: bigint, to = ALICE) => ({
  ...{ to: USDC, value: 0n, data: transferData(to, amount) },
})

function release(n: number): void {
  const refusal = { code: 'ADDRESS_BLOCKED', details: {} } as never
  run({
    ...{ type: 'screened', txId: txIdOf(n), refusal, screenedAgainst: [] },
    ...{ requoted: null, nowMs: START_MS },
  })
}

function limits() {
  const { replies } = run({ type: 'read-limits', keyId: KEY_ID, nowMs: START_MS })
  const [first] = replies
  if (first === undefined || !first.result.ok) throw new Error('no limits')
  return first.result.value as SubWalletReplies['read-limits']
}

describe('a policy', () => {
  test('refuses with rule, field, observed, permitted, time and suggestion', () => {
    keyWith({ rules: [{ name: 'only Bob', effect: 'deny', when: { not: { to: [BOB] } } }] })
    expect(send(1)).toMatchObject({
      code: 'POLICY_DENIED',
      details: {
        ...{ rule: 'only Bob', field: 'to', observed: ALICE, permitted: BOB, retry_at: null },
        suggestion: expect.stringContaining('only Bob'),
      },
    })
    expect(send(2, { to: BOB })).toBeNull()
  })

  test('is asked before the caps and before what the quote could not price', () => {
    keyWith({ default: 'deny' }, { dailyLimitMicros: 0n })
    expect(send(1)?.code).toBe('POLICY_DENIED')
    const quote = { ok: false, fault: { code: 'CHAIN_UNAVAILABLE', details: {} } } as never
    expect(send(2, { quote })?.code).toBe('POLICY_DENIED')
  })

  test('leaves it to the quote where only its price could refuse it', () => {
    keyWith({ per_transaction_usd: '1' })
    const quote = { ok: false, fault: { code: 'CHAIN_UNAVAILABLE', details: {} } } as never
    expect(send(1, { quote })?.code).toBe('CHAIN_UNAVAILABLE')
  })

  test('refuses what a rule asks about where nobody can be asked', () => {
    state.waiting.isOpen = false
    keyWith({ rules: [{ name: 'ask', effect: 'require_approval', when: {} }] })
    const refused = send(1)
    expect(refused).toMatchObject({ code: 'POLICY_DENIED', details: { rule: 'ask' } })
    expect(refused?.message).toContain('cannot wait for one')
  })

  test('bounds one call, gas included', () => {
    keyWith({ per_transaction_usd: '0.001' })
    expect(send(1, {}, 990n)).toBeNull()
    expect(send(2, {}, 991n)).toMatchObject({
      details: { rule: 'per_transaction_usd', observed: '0.001001', permitted: '0.001' },
    })
  })
})

describe('counts', () => {
  const hourly = (gt: number) => ({
    rules: [{ name: 'pace', effect: 'deny', when: { count: { per_seconds: 3_600, gt } } }],
  })

  test('500 sends over ten keys of a lineage pass 100 an hour exactly', () => {
    keyWith(hourly(100))
    for (let n = 1; n < 10; n++) {
      const said = { keyId: `key_${n}` as never, secretHash: `${n}` }
      keyWith(hourly(100), said)
    }
    let passed = 0
    for (let n = 0; n < 500; n++) {
      const keyId = n % 10 === 0 ? KEY_ID : (`key_${n % 10}` as never)
      if (send(n, { keyId }) === null) passed += 1
    }
    expect(passed).toBe(100)
  })

  test('heal at the time that the refusal names, and not before', () => {
    keyWith(hourly(2))
    expect(send(1, { nowMs: START_MS })).toBeNull()
    expect(send(2, { nowMs: START_MS + MINUTE_MS })).toBeNull()
    const refused = send(3, { nowMs: START_MS + 2 * MINUTE_MS })
    expect(refused?.details).toMatchObject({ observed: '3', permitted: '2' })
    const healsAtMs = Date.parse(String(refused?.details.retry_at))
    expect(healsAtMs).toBe(START_MS + 60 * MINUTE_MS)
    expect(send(4, { nowMs: healsAtMs - 1 })).not.toBeNull()
    expect(send(5, { nowMs: healsAtMs })).toBeNull()
  })

  test('a call that screening refuses gives its place back', () => {
    keyWith(hourly(1))
    expect(send(1)).toBeNull()
    expect(send(2)?.code).toBe('POLICY_DENIED')
    release(1)
    expect(send(3)).toBeNull()
  })

  test('sums count what is under way', () => {
    const rules = [
      { name: 'sum', effect: 'deny', when: { sum_usd: { per_seconds: 60, gt: '0.001' } } },
    ]
    keyWith({ rules })
    expect(send(1, {}, 490n)).toBeNull()
    expect(send(2, {}, 490n)).toBeNull()
    expect(send(3, {}, 1n)).toMatchObject({ details: { field: 'sum_usd', permitted: '0.001' } })
  })
})

describe('ceilings', () => {
  const ceilings = [
    { chain_id: CHAIN_ID, token: USDC, per: 'day', amount: '100' },
    { chain_id: CHAIN_ID, token: USDC, per: 'month', amount: '150' },
  ]

  test('count units under way, and what approvals let others take', () => {
    keyWith({ ceilings })
    expect(send(1, transfer(60n))).toBeNull()
    const approve = `0x095ea7b3${transferData(BOB, 41n).slice(10)}` as Hex
    expect(send(2, { ...transfer(0n), data: approve })).toMatchObject({
      details: {
        rule: 'ceilings',
        observed: '101',
        permitted: '100',
        retry_at: expect.any(String),
      },
    })
    expect(send(3, transfer(40n))).toBeNull()
    expect(limits().ceilings.map(({ used }) => used)).toEqual([100n, 100n])
  })

  test('a month is the next wall once a day is over', () => {
    keyWith({ ceilings })
    expect(send(1, transfer(100n))).toBeNull()
    const nowMs = START_MS + DAY_MS
    expect(send(2, { ...transfer(51n), nowMs })).toMatchObject({ details: { permitted: '150' } })
    expect(send(3, { ...transfer(50n), nowMs })).toBeNull()
  })

  test('what cannot be read is refused on a chain with a ceiling', () => {
    keyWith({ ceilings })
    const data: Hex = '0xac9650d8'
    expect(send(1, { to: USDC, value: 0n, data })?.details).toMatchObject({ rule: 'ceilings' })
  })

  test('a refused call gives its units back', () => {
    keyWith({ ceilings })
    expect(send(1, transfer(100n))).toBeNull()
    release(1)
    expect(send(2, transfer(100n))).toBeNull()
  })
})

describe('what was signed', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  /** One command, committed; then the next process has what the store has. */
  async function commit(command: Command) {
    const decision = decide(state, command, null)
    await store.write((writer) => recordEvents(writer, state, decision.events))
    return decision.effects
  }

  /** Through screening and quorum, to its stored bytes. */
  async function signed(n: number, said: Partial<Call>): Promise<void> {
    const prepared = preparedSend(n, 100n)
    const call = { ...prepared.call, ...said }
    await commit({ ...prepared, chainNonce: 0, call })
    const effects = await commit({
      ...{ type: 'screened', txId: txIdOf(n), refusal: null, screenedAgainst: [] },
      ...{ requoted: null, nowMs: START_MS },
    })
    const sign = effects.find((effect) => effect.type === 'sign')
    if (sign?.type !== 'sign') throw new Error('not signed')
    const nowMs = START_MS
    await commit({
      ...{ type: 'signed', txId: txIdOf(n), nonce: sign.nonce },
      signed: ATTEMPT,
      nowMs,
    })
  }

  const restart = () => {
    state = loadState(store.reader, WALLET_ID)
  }

  test('counts after a crash, in sliding times and ceilings alike, and a draft does not', async () => {
    state = emptyState(WALLET_ID)
    await commit({ type: 'create-wallet', wallet })
    const policy = policyOf({
      default: 'allow',
      rules: [{ name: 'pace', effect: 'deny', when: { count: { per_seconds: 3_600, gt: 2 } } }],
      ceilings: [{ chain_id: CHAIN_ID, token: USDC, per: 'day', amount: '100' }],
    })
    const key = apiKey({ dailyLimitMicros: null, monthlyLimitMicros: null, policy })
    await commit({ type: 'register-key', key })
    await signed(1, transfer(60n))
    expect(send(2, transfer(30n))).toBeNull()
    restart()
    expect(state.keys.get(KEY_ID)?.policy).toEqual(policy)
    expect(limits().ceilings.map(({ used }) => used)).toEqual([60n])
    expect(send(3, transfer(41n))?.details).toMatchObject({ rule: 'ceilings', observed: '101' })
    expect(send(4, transfer(40n))).toBeNull()
    expect(send(5, transfer(0n))?.details).toMatchObject({ field: 'count', observed: '3' })
  })
})

describe('new beneficiaries', () => {
  const rules = [{ name: 'known', effect: 'deny', when: { new_beneficiary: true } }]

  test('are those whom the wallet has not paid, by whichever key', () => {
    keyWith({ rules })
    const payees = { times: new Map([[ALICE, 1]]), openAtRead: [] }
    expect(send(1, { payees })).toBeNull()
    expect(send(2, { to: BOB })).toMatchObject({
      details: { field: 'new_beneficiary', observed: BOB },
    })
  })

  test('are read again where a payment ended between the reading and the decision', () => {
    keyWith({ rules })
    const behind = { times: new Map([[ALICE, 1]]), openAtRead: ['tx_ended' as TxId] }
    expect(send(1, { payees: behind })?.details).toMatchObject({ observed: 'cannot be judged' })
    const payees = { times: new Map([[ALICE, 1]]), openAtRead: [] }
    expect(send(2, { payees })).toBeNull()
  })

  test('is unknown where the wallet has not read whom it paid', () => {
    keyWith({ rules })
    expect(send(1)?.details).toMatchObject({ observed: 'cannot be judged' })
  })
})

describe('a dry run', () => {
  test('judges with a policy of its own, reserves nothing, and says why of each rule', () => {
    keyWith({})
    const policy = policyOf({
      default: 'allow',
      rules: [
        { name: 'a', effect: 'deny', when: { to: [BOB] } },
        { name: 'b', effect: 'allow', when: { chains: [1] } },
      ],
    })
    const call = { chainId: CHAIN_ID, to: BOB, value: 0n, data: '0x' } as const
    const judged = { kind: 'send', call, policy, spendMicros: 1n, gasMicros: 0n } as const
    const { replies } = run({ type: 'read-limits', keyId: KEY_ID, nowMs: START_MS, judged })
    const [first] = replies
    if (first === undefined || !first.result.ok) throw new Error('no verdict')
    const { predicted } = first.result.value as SubWalletReplies['read-limits']
    expect(predicted).toMatchObject({ effect: 'deny', rule: 'a' })
    expect(predicted?.reasons).toEqual([
      expect.stringContaining('to is'),
      `a (deny): matches: to is ${BOB}, asked for is ${BOB}`,
      'b (allow): does not match: chains is 8453, asked for is 1',
    ])
  })
})

describe('a dry run of a sponsored call', () => {
  const predicted = (policy: object, said: Partial<Call> = {}) => {
    const call = { chainId: CHAIN_ID, to: BOB, value: 0n, data: '0x', ...said } as const
    const known = { spendMicros: null, gasMicros: 0n } as const
    const judged = { kind: 'swap', call, policy: policyOf(policy), ...known } as const
    const { replies } = run({ type: 'read-limits', keyId: KEY_ID, nowMs: START_MS, judged })
    const [first] = replies
    if (first === undefined || !first.result.ok) throw new Error('no verdict')
    return (first.result.value as SubWalletReplies['read-limits']).predicted?.effect
  }
  const only = (when: object) => ({
    rules: [{ name: 'it', effect: 'allow', when }],
    default: 'deny',
  })

  test('allows by nothing that the call itself will not show', () => {
    keyWith({})
    expect(predicted(only({ operations: ['swap'], to: [BOB] }))).toBe('allow')
    for (const when of [{ beneficiaries: [BOB] }, { functions: ['native'] }]) {
      expect(predicted(only(when))).toBe('deny')
    }
    const data = transferData(ALICE, 1n)
    expect(predicted(only({ beneficiaries: [ALICE] }), { to: USDC, data })).toBe('deny')
    expect(predicted(only({ amounts: [{ token: USDC, lte: '5' }] }), { to: USDC, data })).toBe(
      'deny',
    )
    const native = only({ amounts: [{ token: 'native', lte: '5' }] })
    expect(predicted(native, { value: 5n, data })).toBe('allow')
    expect(predicted(native, { value: 6n, data })).toBe('deny')
  })
})

describe('a change of it', () => {
  test('counts its version up, and no other change does', () => {
    keyWith({})
    const narrower = policyOf({ default: 'deny' })
    const patch = { type: 'patch-key', keyId: KEY_ID, claimId: null, nowMs: START_MS } as const
    run({ ...patch, patch: { policy: narrower } })
    expect(state.keys.get(KEY_ID)?.policyVersion).toBe(1)
    run({ ...patch, patch: { name: 'other' } })
    run({ ...patch, patch: { policy: policyOf({ default: 'deny' }) } })
    expect(state.keys.get(KEY_ID)?.policyVersion).toBe(1)
  })

  test('that is not provably narrower needs the owner’s claim', () => {
    keyWith({ default: 'deny' })
    const patch = { policy: null }
    run({ type: 'patch-key', keyId: KEY_ID, claimId: null, nowMs: START_MS, patch })
    expect(state.keys.get(KEY_ID)?.policy).not.toBeNull()
  })
})
