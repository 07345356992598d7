import { beforeEach, describe, expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { type ApiKey, keyStatus } from '../../src/domain/api-key.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import {
  LIVE_SUB_KEYS_MAX,
  SUB_KEY_DEPTH_MAX,
  SUB_KEYS_IN_WINDOW_MAX,
  SUB_KEYS_MAX,
  SUB_KEYS_WINDOW_MS,
} from '../../src/domain/sub-key.js'
import { testPolicy } from '../../src/operations/console/test-policy.js'
import type { ConsoleContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { policyOf, transferData, USDC } from '../policy/random-policies.js'
import {
  apiKey,
  CHAIN_ID,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const HOUR_MS = 3_600_000
const TOKEN = 1 as never
const ALICE = '0x2222222222222222222222222222222222222222'

let state: SubWalletState
let sends = 0

beforeEach(() => {
  state = emptyState(WALLET_ID)
  run({ type: 'create-wallet', wallet })
  run({ type: 'register-key', key: root() })
})

function root(said: Partial<ApiKey> = {}): ApiKey {
  return apiKey({
    dailyLimitMicros: 1_000n,
    monthlyLimitMicros: 3_000n,
    mayDelegate: true,
    ...said,
  })
}

function run(command: Command) {
  const { replies } = decide(state, command, TOKEN)
  return replies[0]?.result
}

function keyIdOf(n: number): KeyId {
  return `key_${String(n).padStart(26, '0')}` as KeyId
}

function draftOf(n: number, maker: ApiKey, said: Partial<ApiKey> = {}): ApiKey {
  const keyId = keyIdOf(n)
  return apiKey({
    ...{ keyId, lineageId: keyId as string as LineageId, parentLineageId: maker.lineageId },
    ...{ secretHash: String(n).padStart(64, '0'), endsAtMs: START_MS + HOUR_MS },
    ...{ dailyLimitMicros: 500n, monthlyLimitMicros: 500n, mayDelegate: true },
    ...said,
  })
}

/** What a caller is told; the key where it is made. */
function plan(n: number, maker: ApiKey, said: Partial<ApiKey> = {}, nowMs = START_MS) {
  const key = draftOf(n, maker, said)
  return run({ type: 'plan-sub-key', key, madeBy: maker.keyId, nowMs })
}

function make(n: number, maker: ApiKey, said: Partial<ApiKey> = {}): ApiKey {
  const planned = plan(n, maker, said)
  if (planned?.ok !== true) throw new Error(`not planned: ${JSON.stringify(planned)}`)
  const key = planned.value as ApiKey
  expect(run({ type: 'register-key', key })).toMatchObject({ ok: true })
  return key
}

const main = () => state.keys.get(KEY_ID) ?? root()

/** The code that a send is refused with; null where it is let through. */
function send(key: ApiKey, micros = 100n, said: Parameters<typeof preparedSend>[2] = {}) {
  const command = preparedSend(++sends, micros, { keyId: key.keyId, chainNonce: 0, ...said })
  const result = run(command)
  return result === undefined || result.ok ? null : result.fault
}

const code = (result: ReturnType<typeof run>) =>
  result === undefined || result.ok ? null : result.fault

describe('a key that a key makes', () => {
  test('is never more than its maker, in any field', () => {
    const wider: readonly Partial<ApiKey>[] = [
      { allowedChains: [CHAIN_ID, 1] },
      { dailyLimitMicros: null },
      { monthlyLimitMicros: 3_001n },
      { unpricedAssets: 'allow' },
    ]
    wider.forEach((said, n) => {
      expect(code(plan(100 + n, main(), said)), JSON.stringify(Object.keys(said))).toMatchObject({
        code: 'INVALID_REQUEST',
      })
    })
    const child = make(2, main())
    const later = { endsAtMs: START_MS + HOUR_MS + 1, dailyLimitMicros: 1n, monthlyLimitMicros: 1n }
    expect(code(plan(3, child, later))).toMatchObject({
      details: { wider_than_parent: ['expires_at'] },
    })
  })

  test('moves the breakers of its maker, which freeze the maker, and with it all below', () => {
    const breakers = [{ kind: 'refusals', count: 3, per_seconds: 60 }]
    const policy = policyOf({ default: 'allow', breakers })
    state = emptyState(WALLET_ID)
    run({ type: 'create-wallet', wallet })
    run({ type: 'register-key', key: root({ policy }) })
    const [first, second] = [make(2, main(), { policy }), make(3, main(), { policy })]
    const trips = [first, second, first].flatMap((key) => {
      const command = preparedSend(++sends, 501n, { keyId: key.keyId, chainNonce: 0 })
      return decide(state, command, TOKEN).effects.filter(({ type }) => type === 'trip')
    })
    expect(trips).toMatchObject([{ lineageId: LINEAGE_ID, keyId: KEY_ID }])
  })

  test('has caps within what its maker has left now', () => {
    expect(send(main(), 600n)).toBeNull()
    expect(code(plan(2, main()))).toMatchObject({
      details: { above_what_is_left: ['daily_limit_usd'], daily_left_usd: '0.00039' },
    })
    expect(code(plan(2, main(), { dailyLimitMicros: 390n }))).toBeNull()
  })

  test('that has no policy is tested by its maker’s', async () => {
    const child = make(2, main())
    run({
      ...{ type: 'patch-key', keyId: KEY_ID, claimId: null, nowMs: START_MS },
      patch: { policy: policyOf({ default: 'deny' }) },
    })
    const own = state.keys.get(child.keyId) ?? child
    expect(own.policy).toBeNull()
    const ports = {
      reader: { keys: { byId: () => own } },
      actors: { ask: (_: unknown, command: Command) => Promise.resolve(run(command)) },
      nowMs: () => START_MS,
    } as unknown as OperationPorts
    const calls = [{ operation: 'swap', chain_id: CHAIN_ID, to: ALICE }] as const
    const context = { userId: own.userId } as ConsoleContext
    const verdictsOf = async (more: object) => {
      const input = { key_id: own.keyId, calls: [...calls], ...more }
      return testPolicy(ports)(context, input as never)
    }
    const denied = { ok: true, value: { verdicts: [{ effect: 'deny', rule: 'default' }] } }
    expect(await verdictsOf({})).toMatchObject(denied)
    expect(await verdictsOf({ policy: null })).toMatchObject(denied)
    expect(await verdictsOf({ policy: { default: 'allow' } })).toMatchObject(denied)
  })

  test('has its own policy and its maker’s, and none where that cannot be said in one', () => {
    const maker = { ...main(), policy: policyOf({ default: 'allow', per_transaction_usd: '5' }) }
    run({ type: 'register-key', key: maker })
    expect(make(2, maker).policy).toEqual(maker.policy)
    const policy = policyOf({ default: 'allow', per_transaction_usd: '7' })
    expect(make(3, maker, { policy }).policy).toMatchObject({ perTransactionMicros: 5_000_000n })
    const rule = (name: string, to: string) => ({ name, effect: 'allow', when: { to: [to] } })
    const one = policyOf({ default: 'deny', rules: [rule('a', ALICE)] })
    const other = policyOf({ default: 'deny', rules: [rule('b', USDC)] })
    run({ type: 'register-key', key: { ...main(), policy: one } })
    expect(code(plan(4, main(), { policy: other }))).toMatchObject({ details: { field: 'policy' } })
  })

  test('is made by a key that may, which no key below one that may not can be', () => {
    const child = make(2, main(), { mayDelegate: false })
    expect(code(plan(3, child, { dailyLimitMicros: 1n }))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    run({ type: 'register-key', key: root({ mayDelegate: false }) })
    expect(code(plan(4, main()))).toMatchObject({ code: 'PERMISSION_DENIED' })
  })

  test('goes so deep and no deeper, and its maker makes so many', () => {
    let maker = main()
    for (let depth = 1; depth <= SUB_KEY_DEPTH_MAX; depth++) maker = make(1 + depth, maker)
    expect(code(plan(50, maker))).toMatchObject({ details: { depth_max: SUB_KEY_DEPTH_MAX } })
    for (let n = 1; n < SUB_KEYS_MAX; n++) make(100 + n, main())
    expect(code(plan(60, main()))).toMatchObject({ details: { live_sub_keys_max: SUB_KEYS_MAX } })
    run({ type: 'revoke-key', keyId: keyIdOf(101), nowMs: START_MS })
    expect(code(plan(60, main()))).toBeNull()
  })

  test('is one of so many that the keys of a wallet make, live or within a week', () => {
    const makers = [main(), ...Array.from({ length: 8 }, (_, n) => make(20 + n, main()))]
    const inAll = LIVE_SUB_KEYS_MAX - makers.length + 1
    for (let n = 0; n < inAll; n++) make(1_000 + n, makers[1 + (n % 8)] ?? main())
    expect(code(plan(60, main()))).toMatchObject({
      details: { live_sub_keys_of_wallet_max: LIVE_SUB_KEYS_MAX },
    })
    const [keyId, secretHash] = [keyIdOf(2_000), '2'.repeat(64)]
    const another = { ...root(), keyId, lineageId: keyId as string as LineageId, secretHash }
    const stored = run({ type: 'register-key', key: another })
    expect(stored, 'the owner has room').toMatchObject({ ok: true })
  })

  test('is counted for a week when it has ended, since it is kept', () => {
    for (let n = 0; n < SUB_KEYS_IN_WINDOW_MAX; n++) {
      const { keyId } = make(3_000 + n, main())
      run({ type: 'revoke-key', keyId, nowMs: START_MS })
    }
    const refused = { details: { sub_keys_a_week_max: SUB_KEYS_IN_WINDOW_MAX } }
    expect(code(plan(60, main()))).toMatchObject(refused)
    expect(code(plan(60, main(), {}, START_MS + SUB_KEYS_WINDOW_MS - 1))).toMatchObject(refused)
    expect(code(plan(60, main(), {}, START_MS + SUB_KEYS_WINDOW_MS))).toBeNull()
  })

  test('counts on each key above it, and is refused by the cap of any', () => {
    const children = [make(2, main()), make(3, main()), make(4, main())] as const
    expect(children.map((child) => send(child, 400n)?.code ?? null)).toEqual([
      null,
      null,
      'LIMIT_EXCEEDED',
    ])
    expect(send(children[2], 400n)?.message).toContain('of a key that this one was made by')
    expect(send(main(), 200n)).toMatchObject({ code: 'LIMIT_EXCEEDED' })
    const limits = run({ type: 'read-limits', keyId: children[2].keyId, nowMs: START_MS })
    expect(limits).toMatchObject({
      value: { counters: { dayMicros: 0n }, above: [{ counters: { dayMicros: 820n } }] },
    })
  })

  test('counts units on the ceilings above it', () => {
    const ceilings = [{ chain_id: CHAIN_ID, token: USDC, per: 'day', amount: '1000' }]
    run({ type: 'register-key', key: root({ policy: policyOf({ default: 'allow', ceilings }) }) })
    const children = [make(2, main()), make(3, main())] as const
    const pays = (amount: bigint) => ({ to: USDC, value: 0n, data: transferData(ALICE, amount) })
    expect(send(children[0], 1n, pays(700n))).toBeNull()
    expect(send(children[1], 1n, pays(301n))).toMatchObject({ code: 'POLICY_DENIED' })
    expect(send(children[1], 1n, pays(300n))).toBeNull()
    expect(send(main(), 1n, pays(1n))).toMatchObject({ code: 'POLICY_DENIED' })
  })

  test('loses what its maker loses', () => {
    run({ type: 'register-key', key: root({ allowedChains: [1, CHAIN_ID] }) })
    const child = make(2, main())
    const patch = { allowedChains: [1] }
    run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs: START_MS })
    expect(send(child)).toMatchObject({ code: 'CHAIN_NOT_ALLOWED' })
  })

  test('ends with its maker, and is told to the identity provider as ended', () => {
    const child = make(2, main())
    const grandchild = make(3, child)
    run({ type: 'revoke-key', keyId: KEY_ID, nowMs: START_MS })
    for (const { keyId } of [child, grandchild]) {
      const ended = state.keys.get(keyId)
      expect(ended === undefined ? null : keyStatus(ended, START_MS)).toBe('revoked')
      expect(state.grants.byKey.has(keyId)).toBe(true)
    }
    expect(code(run({ type: 'register-key', key: draftOf(9, main()) }))).toMatchObject({
      code: 'INVALID_KEY',
    })
    expect(state.grants.byKey.get(keyIdOf(9))?.change.parentLineageId).toBe(LINEAGE_ID)
  })

  test('ends by itself', () => {
    const child = make(2, main())
    const nowMs = START_MS + HOUR_MS
    expect(send(child, 1n, { nowMs })).toMatchObject({ code: 'INVALID_KEY' })
  })

  test('is frozen with its maker', () => {
    const child = make(2, main())
    const freezing = { scope: 'key', sinceMs: START_MS, reason: 'lost', by: 'user' } as const
    const lineages = new Map([[LINEAGE_ID, freezing]])
    state.freezes = { instance: null, user: null, wallets: new Map(), lineages }
    expect(send(child)).toMatchObject({ code: 'FROZEN' })
    expect(code(plan(3, main()))).toMatchObject({ code: 'FROZEN' })
  })

  test('is given no more than its maker has, whatever its owner confirms', () => {
    const child = make(2, main())
    // The user side has its grant by now.
    state.grants.byKey.clear()
    const claim = (dailyLimitMicros: bigint) =>
      run({
        ...{ type: 'claim-grant', claimId: `claim-${dailyLimitMicros}`, nowMs: START_MS },
        of: { keyId: child.keyId, rotatedFrom: null, patch: { dailyLimitMicros } },
      })
    expect(code(claim(1_001n))).toMatchObject({
      details: { wider_than_parent: ['daily_limit_usd'] },
    })
    expect(claim(1_000n)).toMatchObject({ ok: true })
  })
})
