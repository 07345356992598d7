import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChainConfig } from '../../src/config/chains.js'
import { ONE_CELL } from '../../src/domain/cells.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { type Address, type SubWalletId, ulidBytes } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import {
  type ApproveContext,
  approveBatch,
} from '../../src/identity-provider/vault/approve-batch.js'
import type { Grant } from '../../src/identity-provider/vault/granted.js'
import {
  type LedgerStore,
  openLedgerStore,
} from '../../src/identity-provider/vault/ledger-store.js'
import type { Policy } from '../../src/policy/policy.js'
import { countedWithin, unitsUsed } from '../../src/policy/policy-ledger.js'
import { seqOf } from '../../src/quorum-protocol/batch.js'
import { encodeIntent } from '../../src/quorum-protocol/intent.js'
import type { P256Signer } from '../../src/quorum-protocol/p256.js'
import { encodePayload } from '../../src/quorum-protocol/payload.js'
import { refusalCode } from '../../src/quorum-protocol/refusal.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { policyOf } from '../policy/random-policies.js'
import { QuorumWallets, registryFor, SIGNERS } from '../simulation/quorum-keys.js'
import { ROUTER } from '../simulation/swaps.js'
import { transfer } from './harness.js'
import { coSign } from './hostile.js'
import { ALICE, pays, USDC } from './policy-cases.js'

/** What the user side counts of approvals that it could not sign: by the real code, over real rows. */

const CHAIN_ID = 8453
const NOW_MS = Date.UTC(2026, 5, 15, 12)
const WALLET_ID = 'sw_00000000000000000000000001' as SubWalletId
const ADDRESS: Address = '0x1111111111111111111111111111111111111112'
const KEY = ulidBytes('key_00000000000000000000000001')
const MAKER = ulidBytes('key_00000000000000000000000002')
const PROOF_KEY = randomBytes(32)
const HOUR = 3_600
const POLICY = policyOf({
  default: 'allow',
  rules: [{ name: 'few', effect: 'deny', when: { count: { per_seconds: HOUR, gt: 3 } } }],
  ceilings: [{ chain_id: CHAIN_ID, token: USDC, per: 'day', amount: '1000' }],
})

let directory: string
let ledger: LedgerStore
let isAway: 'no' | 'key store' | 'evidence'
let batchSeq: number
/** Of calls that wait for the key store: run once before it fails. */
let meanwhile: (() => Promise<unknown>) | null
let madeBy: Grant | null

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-given-back-'))
  ledger = openLedgerStore(directory, { length: 0 })
  isAway = 'no'
  batchSeq = 1
  meanwhile = null
  madeBy = null
})
afterEach(async () => {
  await ledger.close()
  rmSync(directory, { recursive: true })
})

function grantUnder(policy: Policy | null): Grant {
  return {
    ...grantedOf({ ...INITIAL_POLICY, permission: 'trade', allowedChains: [CHAIN_ID], policy }),
    ...{ walletId: ulidBytes(WALLET_ID), userId: 'user', version: 1 },
    ...{ parentId: null, liveKeys: [KEY] },
  }
}

const key = { grantId: KEY, sealedProofKey: null, expiresAtMs: null, revoked: false, ceiling: null }

function context(): ApproveContext {
  const wallets = new QuorumWallets()
  wallets.register({ walletId: WALLET_ID, userId: 'user', address: ADDRESS })
  const chain = { id: CHAIN_ID, max_fee_per_gas_ceiling_wei: '1000000000000' }
  const signer: P256Signer = {
    ...SIGNERS.user,
    async sign(message) {
      const first = meanwhile
      meanwhile = null
      if (first !== null) {
        await first()
        isAway = 'key store'
      }
      if (isAway === 'key store') throw new Error('the key store does not answer')
      return SIGNERS.user.sign(message)
    },
  }
  const ancestors = madeBy === null ? [] : [{ grantId: MAKER, grant: madeBy, endsAtMs: null }]
  return {
    cell: ONE_CELL,
    registry: registryFor([chain as unknown as ChainConfig]).current,
    shares: wallets.sharesOf('user'),
    ...{ ledger, signer },
    grants: {
      view: () => ({ key, grant: grantUnder(POLICY), ancestors, partition: 0 }),
      proofKey: () => PROOF_KEY,
    },
    freezes: { requireThawed: () => {}, requireInstanceThawed: () => {} },
    lanes: { take: () => {} },
    persons: {} as ApproveContext['persons'],
    sealer: { boot: randomBytes(16), seal: (shares) => Buffer.from(shares) },
    evidence: {
      append: () =>
        isAway === 'evidence' ? Promise.reject(new Error('disk full')) : Promise.resolve(),
    },
  }
}

function swap(amountIn: bigint): SignPayload {
  return {
    ...{ type: 'router-intent', chainId: CHAIN_ID, verifyingContract: ROUTER },
    intent: {
      ...{ account: ADDRESS, tokenIn: USDC as Address, amountIn, feeBps: 30, tokenOut: ROUTER },
      ...{ minOut: 1n, target: ROUTER, nonce: 7n, data: '0x12345678' },
      deadline: NOW_MS / 1_000 + 300,
    },
  }
}

/** A new attempt at the same calls: each is another intent. */
async function approve(...payloads: readonly SignPayload[]): Promise<readonly string[]> {
  const seq = batchSeq++
  const intents = payloads.map((payload, index) => {
    const { type, bytes } = encodePayload(payload)
    return encodeIntent(
      {
        ...{ type, walletId: ulidBytes(WALLET_ID), keyId: KEY, grantId: KEY, grantVersion: 1 },
        ...{ epoch: 0, seq: seqOf(seq, index), expiresAtMs: NOW_MS + 10_000 },
        ...{ requestId: randomBytes(16), replaces: Buffer.alloc(32), approval: null },
        payload: bytes,
      },
      PROOF_KEY,
    )
  })
  const batch = await coSign(SIGNERS.service, seq, intents)
  const { answers } = await approveBatch(batch, context(), NOW_MS)
  return answers.map((answer) => (answer === null ? 'approved' : refusalCode(answer[0])))
}

function used(grantId = KEY): bigint {
  const [ceiling] = POLICY.ceilings
  if (ceiling === undefined) throw new Error('no ceiling')
  return unitsUsed(ledger.usage(grantId), ceiling, NOW_MS)
}

const calls = () => countedWithin(ledger.usage(KEY), HOUR, NOW_MS).count

describe('while the key store does not answer', () => {
  test('nothing is counted, however often a swap is tried', async () => {
    expect(await approve(swap(100n))).toEqual(['approved'])
    isAway = 'key store'
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(approve(swap(300n))).rejects.toThrow('the key store does not answer')
      expect([used(), calls()]).toEqual([100n, 1])
    }
    isAway = 'no'
    expect(await approve(swap(300n))).toEqual(['approved'])
    expect([used(), calls()]).toEqual([400n, 2])
  })

  test('each of a batch goes back, and a start knows of none', async () => {
    isAway = 'key store'
    await expect(approve(swap(300n), swap(200n))).rejects.toThrow()
    expect([used(), calls()]).toEqual([0n, 0])
    await ledger.close()
    ledger = openLedgerStore(directory, { length: 0 })
    expect([used(), calls()]).toEqual([0n, 0])
  })

  test('units go back that another batch counted on top of, and that one’s stay', async () => {
    meanwhile = () => approve(swap(50n))
    await expect(approve(swap(300n))).rejects.toThrow()
    expect(used()).toBe(50n)
    expect(calls(), 'a sum that others rest on is not made smaller').toBe(2)
  })

  test('the keys above get back theirs', async () => {
    madeBy = grantUnder(POLICY)
    expect(await approve(swap(100n))).toEqual(['approved'])
    isAway = 'key store'
    await expect(approve(swap(300n))).rejects.toThrow()
    expect([used(), used(MAKER)]).toEqual([100n, 100n])
  })
})

test('a transaction stays counted: at its nonce the same bytes are approved uncounted', async () => {
  const change = { to: USDC as Address, value: 0n, data: pays(ALICE, 300n), gasLimit: 100_000n }
  const payment = transfer(0, change)
  isAway = 'key store'
  await expect(approve(payment)).rejects.toThrow()
  expect(used()).toBe(300n)
  isAway = 'no'
  expect(await approve(payment)).toEqual(['approved'])
  expect(used()).toBe(300n)
})

test('what was signed stays counted where the evidence fails: it may have the entry', async () => {
  isAway = 'evidence'
  await expect(approve(swap(300n))).rejects.toThrow('disk full')
  expect([used(), calls()]).toEqual([300n, 1])
})
