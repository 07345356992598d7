import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  approvalMessage,
  coSignMessage,
  encodeHeader,
  seqOf,
} from '../../src/quorum-protocol/batch.js'
import { addInto, isSignedBy, pointOf, randomScalar } from '../../src/quorum-protocol/curve.js'
import { encodeIntent, intentId, NO_REFERENCE } from '../../src/quorum-protocol/intent.js'
import { INTENT_LIFETIME_MS_MAX } from '../../src/quorum-protocol/limits.js'
import { type P256Signer, p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { digestOf, encodePayload } from '../../src/quorum-protocol/payload.js'
import { offerSession } from '../../src/quorum-protocol/quorum-session.js'
import { REFUSAL_CODES } from '../../src/quorum-protocol/refusal.js'
import {
  openRegistry,
  type Registry,
  type RegistryBody,
  registryMessage,
} from '../../src/quorum-protocol/registry.js'
import { createSealer, type ShareSealer } from '../../src/quorum-protocol/sealed-shares.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { createQuorumSessions, type QuorumSessions } from '../../src/quorum-signer/sessions.js'
import { signBatch } from '../../src/quorum-signer/sign-batch.js'
import { DELEGATE, ROUTER, routerIntent, STRANGER, transfer } from './harness.js'

/**
 * What the quorum signer holds a batch against by itself, though both other domains sign whatever it is:
 * it takes nobody's word that it was judged.
 */
const NOW = Date.UTC(2026, 0, 5)
const FEE_MAX = 500n * 10n ** 9n
const GAS_MAX = 1_000_000
const BATCH_SEQ = 7
const signers = {
  co_signers: newSigner(),
  approvers: newSigner(),
  quorum_signers: newSigner(),
  endedCoSigner: newSigner(),
  endedApprover: newSigner(),
  stranger: newSigner(),
}
let registry: Registry
let sessions: QuorumSessions
let sealers: Record<'service' | 'user', ShareSealer>

beforeAll(async () => {
  registry = await registryOf()
  sessions = await createQuorumSessions(signers.quorum_signers)
  sealers = {
    service: await sessionOf('service', signers.co_signers),
    user: await sessionOf('user', signers.approvers),
  }
})

function newSigner(): P256Signer {
  return p256SignerOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
}

async function registryOf(): Promise<Registry> {
  const row = (signer: P256Signer, not_after_ms: number | null = null) => ({
    ...{ public_key: signer.publicKey.toString('hex'), not_before_ms: 0, not_after_ms },
  })
  const pins = { max_fee_per_gas_wei: `${FEE_MAX}`, max_gas_limit: GAS_MAX }
  const body: RegistryBody = {
    ...{ version: 1, environment: 'live', issued_at_ms: 0 },
    chains: [{ chain_id: 8453, router: ROUTER, delegate: DELEGATE, ...pins }],
    co_signers: [row(signers.endedCoSigner, NOW), row(signers.co_signers)],
    approvers: [row(signers.endedApprover, NOW), row(signers.approvers)],
    quorum_signers: [row(signers.quorum_signers)],
  }
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const bytes = Buffer.from(JSON.stringify(body))
  const signature = await p256SignerOf(root).sign(registryMessage(bytes))
  return openRegistry({ body: bytes, signature }, createPublicKey(root))
}

async function sessionOf(holder: 'service' | 'user', signer: P256Signer): Promise<ShareSealer> {
  const { offer, session } = await offerSession(sessions.boot, holder, signer)
  sessions.accept(offer, registry, NOW)
  return createSealer(session)
}

interface Asked {
  readonly payload: SignPayload
  readonly seq: number
  readonly expiresAtMs: number
  /** Of the intent; the payload's own where absent. */
  readonly type?: 1 | 2 | 3 | 4
}

interface Batch {
  readonly asked: readonly Partial<Asked>[]
  /** Of those that are approved. */
  readonly bitmap: number
  /** That the approval is of, where that is another. */
  readonly approvedBitmap: number
  readonly approvedBoot: Uint8Array
  readonly coSigner: P256Signer
  readonly approver: P256Signer
  /** What the shares are sealed for. */
  readonly sealedFor: (ids: readonly Uint8Array[]) => readonly Uint8Array[]
  readonly userSealer: ShareSealer
}

const ids16 = () => randomBytes(16)

/** Both other domains do as they are told. @returns the answers, and what an honest signature is of */
async function sign(said: Partial<Batch>) {
  const { asked = [{}], bitmap = 2 ** asked.length - 1, coSigner = signers.co_signers } = said
  const intents = asked.map(
    ({ payload = transfer(0), seq, expiresAtMs = NOW + 1, type }, index) => {
      const encoded = encodePayload(payload)
      return encodeIntent(
        {
          ...{ type: type ?? encoded.type, walletId: ids16(), keyId: ids16(), grantId: ids16() },
          ...{ grantVersion: 1, epoch: 1, seq: seq ?? seqOf(BATCH_SEQ, index), expiresAtMs },
          ...{ requestId: ids16(), replaces: NO_REFERENCE, approval: null, payload: encoded.bytes },
        },
        null,
      )
    },
  )
  const ids = intents.map(intentId)
  const header = encodeHeader({
    ...{ batchId: ids16(), batchSeq: BATCH_SEQ, count: intents.length, kid: coSigner.kid },
  })
  const coSigned = coSignMessage(header, ids)
  const approved = [...intents.keys()].filter((index) => ((bitmap >>> index) & 1) === 1)
  const { approver = signers.approvers, approvedBitmap = bitmap } = said
  const { approvedBoot = sessions.boot.boot, userSealer = sealers.user } = said
  const shares = approved.map(() => [randomScalar(), randomScalar()] as const)
  const points = shares.map(([user, service]) => {
    const key = Buffer.from(user)
    addInto(key, service)
    return Buffer.from(pointOf(key))
  })
  const sealed = (said.sealedFor ?? ((own) => own))(approved.map((at) => ids[at] ?? NO_REFERENCE))
  const batch = {
    ...{ header, intents, coSignature: await coSigner.sign(coSigned), bitmap },
    approval: await approver.sign(approvalMessage(coSigned, approvedBitmap, approvedBoot)),
    userShares: userSealer.seal(Buffer.concat(shares.map(([user]) => user)), sealed, points),
    serviceShares: sealers.service.seal(Buffer.concat(shares.map(([, one]) => one)), sealed),
  }
  return { answers: signBatch(batch, sessions, registry, NOW), points }
}

const REFUSED = Object.fromEntries(
  Object.entries(REFUSAL_CODES).map(([name, number]) => [number, name]),
)

async function answersTo(asked: readonly Partial<Asked>[]): Promise<readonly string[]> {
  const { answers } = await sign({ asked })
  return answers.map((answer) => (typeof answer === 'number' ? (REFUSED[answer] ?? '?') : 'signed'))
}

const ROUTER_INTENT: SignPayload = {
  ...{ type: 'router-intent', chainId: 8453, verifyingContract: ROUTER },
  intent: routerIntent(STRANGER),
}
const delegation = (change: { chainId?: number; delegate?: typeof DELEGATE }): SignPayload => ({
  ...{ type: 'authorization', chainId: 8453, nonce: 0, delegate: DELEGATE },
  ...change,
})
const listed = (change: { chainId?: number; address?: typeof DELEGATE }) => ({
  authorizationList: [
    {
      ...{ chainId: 8453, address: DELEGATE, nonce: 0, yParity: 0 as const },
      ...{ r: `0x${'11'.repeat(32)}` as const, s: `0x${'11'.repeat(32)}` as const },
      ...change,
    },
  ],
})

describe('the quorum signer, asked by both other domains,', () => {
  test('signs by the wallet’s own key what is approved, and nothing beside it', async () => {
    const payloads = [transfer(0), delegation({}), ROUTER_INTENT]
    const { answers, points } = await sign({
      asked: payloads.map((payload) => ({ payload })),
      bitmap: 0b101,
    })
    expect(answers[1]).toBe(REFUSAL_CODES.NOT_APPROVED)
    for (const [place, at] of [0, 2].entries()) {
      const { type, bytes } = encodePayload(payloads[at] ?? transfer(0))
      const [signature, point] = [answers[at], points[place] ?? NO_REFERENCE]
      if (!(signature instanceof Uint8Array)) throw new Error('it is not signed')
      expect(isSignedBy(point, digestOf(type, bytes), signature)).toBe(true)
    }
  })

  const cases: Readonly<Record<string, readonly [Partial<Asked>, string]>> = {
    'an intent of its place and time': [{}, 'signed'],
    'an intent as long as one may live': [{ expiresAtMs: NOW + INTENT_LIFETIME_MS_MAX }, 'signed'],
    'an intent that would live longer': [
      { expiresAtMs: NOW + INTENT_LIFETIME_MS_MAX + 1 },
      'EXPIRED',
    ],
    'an intent that expires now': [{ expiresAtMs: NOW }, 'EXPIRED'],
    'an intent of an earlier batch': [{ seq: seqOf(BATCH_SEQ - 1, 0) }, 'REPLAYED'],
    'an intent of a later batch': [{ seq: seqOf(BATCH_SEQ + 1, 0) }, 'REPLAYED'],
    'an intent of another place': [{ seq: seqOf(BATCH_SEQ, 1) }, 'REPLAYED'],
    'the highest fee': [{ payload: transfer(0, { maxFeePerGas: FEE_MAX }) }, 'signed'],
    'a fee above it': [
      { payload: transfer(0, { maxFeePerGas: FEE_MAX + 1n }) },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'the highest gas limit': [{ payload: transfer(0, { gasLimit: BigInt(GAS_MAX) }) }, 'signed'],
    'a gas limit above it': [
      { payload: transfer(0, { gasLimit: BigInt(GAS_MAX) + 1n }) },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'a chain that is not in the registry': [
      { payload: transfer(0, { chainId: 1 }) },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'a delegation on every chain': [{ payload: delegation({ chainId: 0 }) }, 'PAYLOAD_NOT_ALLOWED'],
    'a delegate of somebody else': [
      { payload: delegation({ delegate: STRANGER }) },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'a Router of somebody else': [
      { payload: { ...ROUTER_INTENT, verifyingContract: STRANGER } as SignPayload },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'authorizations that it carries': [{ payload: transfer(0, listed({})) }, 'signed'],
    'carried authorizations of another chain': [
      { payload: transfer(0, listed({ chainId: 1 })) },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'carried authorizations of every chain': [
      { payload: transfer(0, listed({ chainId: 0 })) },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'carried authorizations of another delegate': [
      { payload: transfer(0, listed({ address: STRANGER })) },
      'PAYLOAD_NOT_ALLOWED',
    ],
    'a payload of another type than its intent says': [{ type: 2 }, 'MALFORMED'],
  }

  test.each(Object.entries(cases))('answers %s', async (_, [asked, answer]) => {
    expect(await answersTo([asked])).toEqual([answer])
    expect(await answersTo([{}, {}])).toEqual(['signed', 'signed'])
  })

  const batches: Readonly<Record<string, () => Partial<Batch>>> = {
    'co-signed by a stranger': () => ({ coSigner: signers.stranger }),
    'co-signed by the identity provider': () => ({ coSigner: signers.approvers }),
    'co-signed by a key that has ended': () => ({ coSigner: signers.endedCoSigner }),
    'co-signed by a key with another’s id': () => ({
      coSigner: { ...signers.stranger, kid: signers.co_signers.kid },
    }),
    'approved by a stranger': () => ({ approver: signers.stranger }),
    'approved by the service': () => ({ approver: signers.co_signers }),
    'approved by a key that has ended': () => ({ approver: signers.endedApprover }),
    'approved in fewer places': () => ({ asked: [{}, {}], approvedBitmap: 0b01 }),
    'approved for another boot': () => ({ approvedBoot: randomBytes(16) }),
    'with shares of other intents': () => ({ sealedFor: (ids) => ids.map(() => randomBytes(32)) }),
    'with shares in another order': () => ({
      ...{ asked: [{}, {}], sealedFor: (ids: readonly Uint8Array[]) => ids.toReversed() },
    }),
    'with the user side’s share from the service': () => ({ userSealer: sealers.service }),
  }

  test.each(Object.keys(batches))('signs nothing of a batch %s', async (what) => {
    await expect(sign(batches[what]?.() ?? {})).rejects.toThrow(/UNAUTHENTIC|NO_SESSION/)
  })
})
