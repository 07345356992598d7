import { beforeEach, describe, expect, test } from 'vitest'
import { payeeLabel } from '../../actors/sub-wallet/effects/approvals.js'
import type { AddressRule } from '../../src/domain/address-rule.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { WaitingSponsorship } from '../../src/domain/approval.js'
import type { Call } from '../../src/domain/call.js'
import type { Hex } from '../../src/domain/ids.js'
import { GAS_BUDGET_DEFAULTS } from '../../src/domain/sponsored-gas.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import type { ErrorCode } from '../../src/errors/catalogue.js'
import { fault, refuse } from '../../src/errors/fault.js'
import { FIRST_GAS_WALLET, ROUTER as VENUE } from '../core/wallet-world.js'
import { policyOf } from '../policy/random-policies.js'
import { WaitingWallet } from './waiting-wallet.js'
import {
  ADDRESS,
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  KEY_ID,
  START_MS,
  txIdOf,
  wallet,
} from './wallet-fixtures.js'

const STRANGER = '0x2222222222222222222222222222222222222222'
const ASKS = { name: 'ask', effect: 'require_approval', when: { operations: ['swap'] } }

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
})

async function asking(said: object = {}, ofKey: Partial<ApiKey> = {}): Promise<void> {
  const policy = policyOf({ default: 'allow', rules: [{ ...ASKS, ...said }] })
  const limits = { dailyLimitMicros: null, monthlyLimitMicros: null }
  await it.run({ type: 'register-key', key: apiKey({ ...limits, policy, ...ofKey }) })
}

async function waiting(said: object = {}): Promise<void> {
  await asking(said)
  expect(await it.swap(1, 100n)).toMatchObject({ ok: true })
}

async function approved(): Promise<void> {
  await it.approve(1)
  await it.settle()
}

function terms() {
  const [asked] = it.intents()
  return asked?.draft.terms
}

/** Approved, signed, stored; its gas wallet was asked. */
async function handedOver(): Promise<void> {
  await waiting()
  await approved()
  await it.signIntent(1)
}

/** Its gas wallet has signed nothing. */
function gasRefused(code: ErrorCode) {
  const refusal = { fault: fault(code), of: 'call' } as const
  return it.run({
    ...{ type: 'sponsor-update', txId: txIdOf(1), gas: null, flight: 'ended', refusal },
    ...{ gasWalletId: FIRST_GAS_WALLET, cancels: null, nowMs: it.nowMs },
  })
}

function rests() {
  return it.effects.flatMap((effect) => (effect.type === 'rest-job' ? [effect.delayMs] : []))
}

function rested() {
  return it.run({ type: 'job-rested', txId: txIdOf(1) })
}

/** As the gas wallet tells of it. */
function gasTold(status: 'broadcast' | 'confirmed') {
  const record = it.record(1)
  if (record === undefined) throw new Error('no record')
  const mined: MinedIn = {
    ...{ txHash: ATTEMPT.txHash, blockNumber: 7, blockHash: '0x07' },
    ...{ outcome: 'success', feeWei: 0n },
  }
  return it.run({
    ...{ type: 'sponsor-update', txId: txIdOf(1), refusal: null, gasWalletId: FIRST_GAS_WALLET },
    ...{ cancels: null, nowMs: it.nowMs, flight: status === 'confirmed' ? 'ended' : 'sent' },
    gas: {
      ...{ call: record.call, txId: txIdOf(1), from: wallet.address, nonce: 3, gasLimit: 9n },
      ...{ status, attempts: [ATTEMPT], mined: status === 'confirmed' ? mined : null },
      ...{ error: null, createdAtMs: it.nowMs, updatedAtMs: it.nowMs, confirmedAtMs: null },
    },
  })
}

describe('a sponsored call that a rule asks about', () => {
  test('waits with its spend reserved; nothing is signed and no gas wallet hears of it', async () => {
    await waiting()
    expect(it.record(1)).toMatchObject({
      ...{ status: 'awaiting_approval', kind: 'swap', nonce: -1, attempts: [] },
      approval: { rule: 'ask', needed: 1 },
    })
    expect(it.approval(1).sponsored).toMatchObject({ offered: 100n, terms: { minOut: 98n } })
    expect(it.reserved).toBe(100n)
    expect(it.state.intentNonces.size).toBe(0)
    expect([...it.intents(), ...it.jobs()]).toEqual([])
    it.restart()
    expect(it.reserved).toBe(100n)
    expect(it.state.sponsored.size).toBe(0)
    expect([...it.state.waiting.byTx.keys()]).toEqual([txIdOf(1)])
  })

  test('is signed by the approved terms once it is approved, and then handed over', async () => {
    await waiting()
    await approved()
    expect(it.intents()).toMatchObject([
      { intentNonce: null, draft: { proofKey: null, approval: { proofs: ['0x02'] } } },
    ])
    expect(terms()).toMatchObject({ value: { minOut: 98n, data: '0xaa' } })
    expect(it.jobs()).toEqual([])
    await it.signIntent(1)
    expect(it.jobs()).toHaveLength(1)
    expect(it.record(1)).toMatchObject({ status: 'signed', attempts: [], createdAtMs: START_MS })
    expect(it.approval(1).status).toBe('approved')
    expect(it.state.waiting.byTx.size).toBe(0)
    expect(it.reserved).toBe(100n)
    it.restart()
    await it.resume()
    expect(it.jobs()).toHaveLength(1)
    expect(it.reserved).toBe(100n)
    await gasTold('broadcast')
    const shown = { status: 'broadcast', nonce: 3, attempts: [ATTEMPT], createdAtMs: START_MS }
    expect(it.record(1)).toMatchObject({ ...shown, approval: { rule: 'ask' } })
    await gasTold('confirmed')
    expect(it.record(1)).toMatchObject({ status: 'confirmed', spentMicros: 100n })
    expect(it.reserved).toBe(0n)
  })

  test('lets other sponsored calls go on, at the nonces that they count', async () => {
    await waiting({ when: { operations: ['swap'], spend_usd_gt: '0.00005' } })
    await it.swap(2, 7n)
    await approved()
    const asked = it.intents().map(({ draft, intentNonce }) => [draft.txId, intentNonce])
    expect(asked).toEqual([
      [txIdOf(2), 0],
      [txIdOf(1), null],
    ])
    await it.swap(3, 7n)
    expect(it.intents().at(-1)).toMatchObject({ intentNonce: 1 })
  })

  test('has the account delegate once it is approved, and takes no nonce before', async () => {
    await asking()
    const bare = { delegated: false, chainNonce: 4 }
    await it.swap(1, 100n, bare)
    expect(it.state.delegations.size).toBe(0)
    it.now = bare
    await approved()
    expect(it.intents()).toMatchObject([{ authorization: { nonce: 4 } }])
    expect(it.state.delegations.get(CHAIN_ID)?.leader).toBe(txIdOf(1))
  })

  test('answers its Idempotency-Key, and is a duplicate of itself', async () => {
    await asking({}, { duplicateGuard: 'on' })
    const idempotency = { key: 'k', bodyHash: 'b' }
    await it.swap(1, 100n, { idempotency })
    const same = { fingerprint: 'swap-1' }
    const again = () => it.swap(2, 100n, { ...same, idempotency })
    const replayed = { ok: true, value: { replayed: true, tx: { txId: txIdOf(1) } } }
    expect(await again()).toMatchObject(replayed)
    expect(await it.swap(3, 100n, same)).toMatchObject({ fault: { code: 'DUPLICATE_SUSPECTED' } })
    await it.approve(1)
    expect(await again()).toMatchObject(replayed)
  })

  test('ends declined, withdrawn or expired, and holds nothing', async () => {
    await asking()
    for (const n of [1, 2, 3]) await it.swap(n, 100n)
    await it.decline(1, 'not this one')
    await it.withdraw(2)
    await it.due(3_600_000)
    expect([1, 2, 3].map((n) => it.record(n)?.status)).toEqual(['declined', 'withdrawn', 'expired'])
    expect(it.record(1)?.error).toMatchObject({ message: 'not this one' })
    expect(it.reserved).toBe(0n)
  })

  test('with a delay it is signed at its time, and a withdrawal that was answered wins', async () => {
    await asking({ effect: 'allow', delay_seconds: 600 })
    await it.swap(1, 100n)
    await it.swap(2, 100n)
    await it.withdraw(2)
    it.restart()
    await it.resume()
    await it.settle()
    expect(it.intents()).toEqual([])
    await it.due(602_000)
    await it.settle()
    expect(it.intents().map(({ draft }) => draft.txId)).toEqual([txIdOf(1)])
    expect(it.record(2)?.status).toBe('withdrawn')
  })
})

describe('a sponsored call, judged again when it is approved', () => {
  test('is signed as it was approved while the offer is near enough', async () => {
    await waiting()
    it.now = { offered: 99n }
    await approved()
    expect(terms()).toMatchObject({ value: { minOut: 98n, data: '0xaa' } })
  })

  test.each([
    ['below the approved minimum', 97n],
    ['so much better that the minimum gives it away', 106n],
  ])('people are asked again where the offer is %s', async (_, offered) => {
    await waiting()
    it.now = { offered }
    await approved()
    expect(it.intents()).toEqual([])
    const minOut = (offered * 98n) / 100n
    expect(it.record(1)).toMatchObject({ status: 'awaiting_approval', call: { data: '0xbb' } })
    expect(it.approval(1)).toMatchObject({
      ...{ status: 'pending', askedAgain: 'quote', decisions: [], maxNativeWei: 1n },
      sponsored: { offered, terms: { minOut, data: '0xbb' } },
    })
    expect(it.reserved).toBe(100n)
    await approved()
    expect(terms()).toMatchObject({ value: { minOut, data: '0xbb' } })
  })

  test('people are asked again where what it gives is worth another tenth', async () => {
    await waiting()
    it.now = { micros: 110n }
    await approved()
    // The terms are the same: another number keeps what was signed over them from counting.
    const again = { status: 'pending', askedAgain: 'price', decisions: [], maxNativeWei: 1n }
    expect(it.approval(1)).toMatchObject(again)
    expect(it.reserved).toBe(110n)
    await it.settle()
    await approved()
    expect(it.intents()).toHaveLength(1)
  })

  test.each([
    [
      'the key is revoked',
      'INVALID_KEY',
      () => it.run({ type: 'revoke-key', keyId: KEY_ID, nowMs: it.nowMs }),
    ],
    [
      'an address is listed',
      'ADDRESS_BLOCKED',
      () => {
        it.screening = fault('ADDRESS_BLOCKED')
      },
    ],
    [
      'its balance is gone',
      'INSUFFICIENT_FUNDS',
      () => {
        const valuation = { valueMicros: 100n, gasMicros: 0n, nativePrice: 1n }
        it.now = {
          quote: {
            ...{ ok: true, unpriced: false, parties: [], offered: 0n, exchange: null },
            valuation: { ...valuation, nativePriceDecimals: 8 },
            terms: refuse(fault('INSUFFICIENT_FUNDS')),
          },
        }
      },
    ],
    [
      'the wallet is frozen',
      'FROZEN',
      () => {
        const user = { scope: 'user', sinceMs: START_MS, reason: null, by: 'user' } as const
        it.freezes = { instance: null, user, wallets: new Map(), lineages: new Map() }
      },
    ],
    [
      'a cap has no room by now',
      'LIMIT_EXCEEDED',
      () => {
        const patch = { dailyLimitMicros: 99n }
        return it.run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs: it.nowMs })
      },
    ],
  ] as const)('is dropped where %s', async (_, code, meanwhile) => {
    await waiting()
    await meanwhile()
    await approved()
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code }, spentMicros: 0n })
    expect([...it.intents(), ...it.jobs()]).toEqual([])
    expect(it.reserved).toBe(0n)
    expect(it.state.sponsored.size).toBe(0)
  })

  test('is tried again where a venue, the quorum or the day’s gas does not answer', async () => {
    await waiting()
    it.now = { quote: { ok: false, fault: fault('CHAIN_UNAVAILABLE') } }
    await approved()
    expect(it.record(1)?.status).toBe('awaiting_approval')
    it.now = { gasMicros: GAS_BUDGET_DEFAULTS.walletMicros + 1n }
    await it.due(1_000)
    await it.settle()
    expect(it.intents()).toEqual([])
    it.now = {}
    await it.due(2_000)
    await it.settle()
    const [asked] = it.intents()
    await it.run({
      ...{ type: 'intent-failed', txId: txIdOf(1), chainNonce: null, nowMs: it.nowMs },
      fault: fault('COSIGNER_UNAVAILABLE'),
    })
    expect(it.reserved).toBe(100n)
    it.restart()
    await it.resume()
    await it.settle()
    expect(it.intents()).toMatchObject([{ draft: { approval: asked?.draft.approval } }])
    await it.signIntent(1)
    expect(it.record(1)?.status).toBe('signed')
  })

  test('is stopped by a decline while it is screened, and by none once the quorum is asked', async () => {
    await waiting()
    await it.approve(1)
    expect(await it.decline(1)).toMatchObject({ ok: true })
    await it.settle()
    expect(it.intents()).toEqual([])
    await it.swap(2, 100n)
    await it.approve(2)
    await it.settle()
    expect(await it.withdraw(2)).toMatchObject({ ok: false })
    expect(await it.decline(2)).toMatchObject({ ok: false })
  })

  test('is dropped, and says so, where no gas wallet takes it', async () => {
    await handedOver()
    await gasRefused('CHAIN_REJECTED')
    const error = { code: 'CHAIN_REJECTED' }
    expect(it.record(1)).toMatchObject({ status: 'dropped', spentMicros: 0n, error })
    expect(it.reserved).toBe(0n)
    it.restart()
    expect(it.state.sponsored.size + it.state.waiting.byTx.size).toBe(0)
  })
})

describe('a sponsored call that was approved and handed over', () => {
  test.each(['COSIGNER_UNAVAILABLE', 'CHAIN_UNAVAILABLE'] as const)(
    'is handed over again, as it was signed, until its gas wallet has signed: %s',
    async (code) => {
      await handedOver()
      const [first] = it.jobs()
      for (const afterMs of [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
        it.effects = []
        await gasRefused(code)
        // Told twice, it is asked once.
        await gasRefused(code)
        expect(rests()).toEqual([afterMs])
        expect(it.jobs()).toEqual([])
        expect(it.record(1)).toMatchObject({ status: 'signed', error: null })
        expect(it.reserved).toBe(100n)
        it.nowMs += afterMs
        await rested()
        expect(it.jobs()).toEqual([first])
      }
      await rested()
      expect(it.jobs()).toHaveLength(1)
      expect(it.intents()).toEqual([])
      await gasTold('confirmed')
      expect(it.record(1)).toMatchObject({ status: 'confirmed', spentMicros: 100n })
      expect(it.reserved).toBe(0n)
    },
  )

  test('is handed over at once by a start that comes meanwhile', async () => {
    await handedOver()
    await gasRefused('COSIGNER_UNAVAILABLE')
    it.restart()
    await it.resume()
    expect(it.jobs()).toHaveLength(1)
    expect(it.reserved).toBe(100n)
    await rested()
    expect(it.jobs()).toHaveLength(1)
    await gasRefused('COSIGNER_UNAVAILABLE')
    expect(rests()).toEqual([500])
  })

  test('is dropped, and says why, once its intent would be over by the next attempt', async () => {
    await handedOver()
    it.nowMs += 179_499
    await gasRefused('COSIGNER_UNAVAILABLE')
    expect(rests()).toEqual([500])
    it.nowMs += 500
    await rested()
    await gasRefused('COSIGNER_UNAVAILABLE')
    const error = { code: 'COSIGNER_UNAVAILABLE' }
    expect(it.record(1)).toMatchObject({ status: 'dropped', spentMicros: 0n, error })
    expect(it.reserved).toBe(0n)
    expect(it.state.sponsored.size + it.state.waiting.byTx.size).toBe(0)
  })
})

describe('the name that a call goes by', () => {
  const rules = [
    [ADDRESS, 'Alice'],
    [VENUE, 'The venue'],
  ].map(([address, note]) => ({ address, note, action: 'allow', createdAtMs: 0 })) as AddressRule[]
  const call = { chainId: CHAIN_ID, to: VENUE, value: 0n, data: '0x' } as const
  const named = (said: Partial<Call>, sponsored: WaitingSponsorship | null = null) =>
    payeeLabel(rules, { sponsored }, { kind: 'send', call: { ...call, ...said } })

  test('is the owner’s own note of whom it pays, and never of whom it does not', async () => {
    expect(named({ to: ADDRESS })).toBe('Alice')
    const pays = (payee: string): Hex =>
      `0xa9059cbb${payee.slice(2).padStart(64, '0')}${'0'.repeat(64)}`
    expect(named({ data: pays(ADDRESS) })).toBe('Alice')
    // The token is known, the payee is not.
    expect(named({ data: pays(STRANGER) })).toBeNull()
    expect(named({ data: '0x12345678' })).toBe('The venue')
    await waiting()
    const { sponsored } = it.approval(1)
    expect(named({ to: ADDRESS }, sponsored)).toBe('The venue')
  })
})
