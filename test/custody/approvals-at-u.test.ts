import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ApprovalTerm,
  approvalKeyProof,
  approvalTermMessage,
  encodeApprovalTerm,
} from '../../src/custody/approvals/approval-term.js'
import { certificateMessage } from '../../src/custody/authorizers/certificate.js'
import { encodeProof, type Proof } from '../../src/custody/authorizers/proof.js'
import {
  registryPath,
  serviceLayout,
  userSideLayout,
} from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../src/custody/domain-keys/registry-file.js'
import { openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { verifyEvidence } from '../../src/custody-tools/audit/verify-evidence.js'
import { auditHome } from '../../src/custody-tools/maintenance/audit-home.js'
import { approvalNonce } from '../../src/domain/approval.js'
import {
  type ApprovalId,
  type Hex,
  ulidBody,
  ulidBytes,
  ulidOfBytes,
} from '../../src/domain/ids.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import type { RefusalCode } from '../../src/quorum-protocol/refusal.js'
import { openRegistry } from '../../src/quorum-protocol/registry.js'
import type {
  AuthorizationPayload,
  RouterIntentPayload,
  TransactionPayload,
} from '../../src/quorum-protocol/sign-payload.js'
import { fromHex } from '../../src/quorum-protocol/transaction.js'
import { policyOf } from '../policy/random-policies.js'
import { callTerm, intentTerm } from './approval-terms.js'
import {
  type AuthorizerClient,
  connectAuthorizers,
  issuerOf,
  type KeyAuthorizer,
} from './authorizer-client.js'
import { countersignOk } from './command.js'
import {
  DELEGATE,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  routerIntent,
  startQuorum,
  transfer,
  USER,
  WEBAUTHN,
} from './harness.js'
import { becomeService, type HostileService, intentFor, judged, refusalOf } from './hostile.js'
import { ALICE, BOB, call, pays, USDC } from './policy-cases.js'

/**
 * The service gone bad: its own judgement is out of the way, its rows say what it likes. What a rule
 * asks people about is signed with their proofs alone.
 */
let quorum: Quorum
let service: HostileService
let client: AuthorizerClient
let first: KeyAuthorizer
let second: KeyAuthorizer
let third: KeyAuthorizer
let wallet: ReadyWallet
let other: ReadyWallet
let nonce = 0

const OTHER = { email: 'eve@example.test', password: 'another long password' }

const NO_KEY = { proofKey: null }
const GAS_WEI = 100_000n * 2_000_000_000n
const DELAY_MS = 1_000
const POLICY = {
  default: 'deny',
  rules: [
    {
      name: 'large payments',
      effect: 'require_approval',
      when: { to: [USDC], amounts: [{ token: USDC, gt: '100' }], chains: [8453] },
      approvals: { needed: 1, expires_seconds: 600 },
    },
    {
      name: 'payments to Bob',
      effect: 'require_approval',
      when: { beneficiaries: [BOB], functions: ['transfer(address,uint256)'] },
      approvals: { needed: 2, expires_seconds: 600 },
    },
    {
      name: 'tips',
      effect: 'allow',
      when: { functions: ['native'] },
      delay_seconds: DELAY_MS / 1_000,
    },
    { name: 'venue', effect: 'require_approval', when: { operations: ['swap'] } },
    { name: 'dear things', effect: 'require_approval', when: { spend_usd_gt: '5' } },
    { name: 'small payments', effect: 'allow', when: { to: [USDC] } },
  ],
}

beforeAll(async () => {
  quorum = await startQuorum()
  const passkeys = { rpId: WEBAUTHN.rp_id, origin: WEBAUTHN.origins[0] ?? '' }
  const policy = policyOf(POLICY)
  ;[wallet, other] = await Promise.all([
    readyWallet(quorum, [1, 8453], { policy }),
    readyWallet(quorum, [1, 8453], { policy }),
  ])
  client = await connectAuthorizers(quorum.home, USER, passkeys)
  first = await client.addKey()
  second = await client.addKey(first.prove)
  third = await client.addKey(first.prove)
  service = await becomeService(quorum)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

const payment = (amount: bigint, change: Partial<TransactionPayload> = {}) =>
  transfer(nonce++, {
    to: USDC,
    value: 0n,
    data: pays(ALICE, amount),
    gasLimit: 100_000n,
    ...change,
  })

function newApproval(): ApprovalId {
  return `apr_${ulidBody(Date.now(), randomBytes(10))}` as ApprovalId
}

function termFor(
  payload: TransactionPayload,
  change: Partial<ApprovalTerm> = {},
  of: ReadyWallet = wallet,
): ApprovalTerm {
  const { walletId, keyId } = of
  const asked = {
    ...{ approvalId: newApproval(), walletId, keyId, userId: quorum.userId },
    ...{ maxNativeWei: GAS_WEI, expiresAtMs: Date.now() + 600_000 },
  }
  return { ...callTerm(asked, payload), ...change }
}

/** As the service would tell of it; `needed` and what follows may be a lie. */
function asked(term: ApprovalTerm, data: Hex, change: { needed?: number; proofKey?: Buffer } = {}) {
  const keyProof = approvalKeyProof(change.proofKey ?? wallet.proofKey, term, fromHex(data))
  return service.userSide.call('approval-ask', [
    ...[encodeApprovalTerm(term), quorum.userId, fromHex(data), change.needed ?? 0, 0],
    ...['a rule', '100.00', keyProof, null],
  ])
}

async function proofBy(by: KeyAuthorizer, term: ApprovalTerm): Promise<Buffer> {
  const signature = await by.signer.sign(approvalTermMessage(encodeApprovalTerm(term)))
  const authorizerId = Buffer.from(by.authorizerId.slice(4), 'hex')
  return encodeProof({ kind: 'p256', authorizerId, signature } satisfies Proof)
}

async function given(by: KeyAuthorizer, term: ApprovalTerm, id = term.approvalId): Promise<void> {
  await service.userSide.call('approval-give', [id, await proofBy(by, term), ''])
}

/** What the user side answers for an intent that rests on the approval, without the key's secret. */
function answerTo(
  payload: TransactionPayload | RouterIntentPayload | AuthorizationPayload,
  { approvalId, expiresAtMs, maxNativeWei }: ApprovalTerm,
  change: Parameters<typeof intentFor>[3] = {},
  of: ReadyWallet = wallet,
): Promise<RefusalCode | 'approved'> {
  const approval = { approvalId, expiresAtMs, maxNativeWei }
  const resting = { proofKey: null, approval, ...change }
  return judged(service, (seq) => intentFor(of, payload, seq, resting))
}

/** A large payment that one person has approved. */
async function approvedPayment(change: Partial<ApprovalTerm> = {}) {
  const payload = payment(1_000n)
  const term = termFor(payload, change)
  await asked(term, payload.data)
  await given(first, term)
  return { payload, term }
}

/** Approved for so long; for longer where the machine takes that to ask and to approve. */
async function approvedFor(lifeMs: number): ReturnType<typeof approvedPayment> {
  const expiresAtMs = Date.now() + lifeMs
  try {
    return await approvedPayment({ expiresAtMs })
  } catch (error) {
    if (Date.now() < expiresAtMs || lifeMs > 10_000) throw error
    return approvedFor(2 * lifeMs)
  }
}

describe('what a rule asks people about', () => {
  test('is signed with the proof of one, and raised in its fees up to what was approved', async () => {
    const { payload, term } = await approvedPayment()
    const sent = { ...payload, maxFeePerGas: 1_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
    const { coSigner } = quorum
    const outcome = await coSigner.sign({
      ...{ walletId: wallet.walletId, keyId: wallet.keyId, requestId: randomBytes(16) },
      ...{ proofKey: null, replaces: null, payload: sent },
      approval: { ...approvalOf(term), proofs: [] },
    })
    expect(outcome).toMatchObject({ ok: true })
    const heldBy = outcome.ok ? outcome.intentId : Buffer.alloc(32)
    const bump = (maxFeePerGas: bigint) =>
      judged(service, (seq) =>
        intentFor(wallet, { ...sent, maxFeePerGas }, seq, { proofKey: null, replaces: heldBy }),
      )
    expect(await bump(2_000_000_001n)).toBe('APPROVAL_MISMATCH')
    expect(await bump(2_000_000_000n)).toBe('approved')
  })

  test('is refused without an approval, and with one that was never asked for', async () => {
    const payload = payment(1_000n)
    expect(await judged(service, (seq) => intentFor(wallet, payload, seq))).toBe('POLICY_DENIED')
    // A row of the service's says "approved"; nobody told the user side of it.
    expect(await answerTo(payload, termFor(payload))).toBe('APPROVAL_UNKNOWN')
  })

  test('is refused where the service says that nobody need approve it', async () => {
    const payload = payment(1_000n)
    const term = termFor(payload)
    await asked(term, payload.data, { needed: 0 })
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISSING')
  })

  test('is refused for another call, wallet, key, chain, value or id than was approved', async () => {
    const { payload, term } = await approvedPayment()
    expect(await answerTo({ ...payload, data: pays(ALICE, 1_001n) }, term)).toBe(
      'APPROVAL_MISMATCH',
    )
    expect(await answerTo({ ...payload, data: pays(BOB, 1_000n) }, term)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo({ ...payload, to: ALICE }, term)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo({ ...payload, value: 1n }, term)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo({ ...payload, chainId: 1 }, term)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo(payload, term, {}, other)).toBe('APPROVAL_MISMATCH')
    const longer = { ...term, expiresAtMs: term.expiresAtMs + 1 }
    expect(await answerTo(payload, longer)).toBe('APPROVAL_MISMATCH')
    const unknown = { ...term, approvalId: randomBytes(16) }
    expect(await answerTo(payload, unknown)).toBe('APPROVAL_UNKNOWN')
    expect(await answerTo(payload, term)).toBe('approved')
  })

  test('is refused with more gas than was approved', async () => {
    const { payload, term } = await approvedPayment()
    const dearer = { ...payload, maxFeePerGas: 2_000_000_001n }
    expect(await answerTo(dearer, term)).toBe('APPROVAL_MISMATCH')
    const lied = { ...term, maxNativeWei: term.maxNativeWei * 2n }
    expect(await answerTo(dearer, lied)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo({ ...payload, gasLimit: 100_001n }, term)).toBe('APPROVAL_MISMATCH')
  })

  test('is signed once: at another nonce the approval is used up, across a restart too', async () => {
    const { payload, term } = await approvedPayment()
    const again = { ...payload, nonce: nonce++ }
    expect(await answerTo(payload, term)).toBe('approved')
    expect(await answerTo(again, term)).toBe('APPROVAL_USED')
    await service.close()
    await quorum.identityProvider.kill()
    quorum.identityProvider = await quorum.startIdentityProvider()
    await quorum.coSigner.whenReady(READY_MS)
    service = await becomeService(quorum)
    expect(await answerTo(again, term)).toBe('APPROVAL_USED')
  })

  test('is not used up by what is refused, nor lent to the replacement of another call', async () => {
    const { payload, term } = await approvedPayment()
    expect(await answerTo(payload, term, { grantVersion: 9 })).toBe('STALE_GRANT')
    const small = payment(1n)
    const outcome = await quorum.coSigner.sign({
      ...{ walletId: wallet.walletId, keyId: wallet.keyId, requestId: randomBytes(16) },
      ...{ proofKey: wallet.proofKey, replaces: null, payload: small },
    })
    if (!outcome.ok) throw new Error('not signed')
    const raised = { ...small, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
    const replaces = outcome.intentId
    expect(await answerTo(raised, term, { replaces })).toBe('APPROVAL_USED')
    expect(await answerTo(payload, term)).toBe('approved')
  })

  test('is refused once the approval has expired, was declined or withdrawn', async () => {
    const soon = await approvedFor(250)
    await expect.poll(() => Date.now() > soon.term.expiresAtMs).toBe(true)
    expect(await answerTo(soon.payload, soon.term)).toBe('APPROVAL_EXPIRED')
    const { payload, term } = await approvedPayment()
    await service.userSide.call('approval-end', [term.approvalId, 'withdrawn'])
    expect(await answerTo(payload, term)).toBe('APPROVAL_DECLINED')
    expect(await refusalOf(asked(term, payload.data))).toBe('APPROVAL_DECLINED')
    expect(await refusalOf(given(second, term))).toBe('APPROVAL_DECLINED')
  })

  test('takes as many people as the strictest rule says, each once', async () => {
    const payload = payment(50n, { data: pays(BOB, 50n) })
    const term = termFor(payload)
    await asked(term, payload.data, { needed: 1 })
    await given(first, term)
    await given(first, term)
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISSING')
    await given(second, term)
    expect(await answerTo(payload, term)).toBe('approved')
  })

  test('is also what cannot be read where a rule would ask about it', async () => {
    const payload = payment(0n, { data: call('burn', [1n]) })
    expect(await judged(service, (seq) => intentFor(wallet, payload, seq))).toBe('POLICY_DENIED')
    const term = termFor(payload)
    await asked(term, payload.data)
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISSING')
    await given(first, term)
    expect(await answerTo(payload, term)).toBe('approved')
  })

  test('takes as many as the service says where only it can tell', async () => {
    const payload = payment(5n)
    const term = termFor(payload)
    await asked(term, payload.data, { needed: 1 })
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISSING')
    await given(first, term)
    expect(await answerTo(payload, term)).toBe('approved')
  })

  test('is void where it is asked about again with more gas', async () => {
    const { payload, term } = await approvedPayment()
    const dearer = { ...term, maxNativeWei: GAS_WEI * 2n }
    await asked(dearer, payload.data)
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo(payload, dearer)).toBe('APPROVAL_MISSING')
    await given(second, dearer)
    expect(await answerTo(payload, dearer)).toBe('approved')
  })
})

describe('a call whose gas the service pays', () => {
  /** A swap of the venue's, as people are asked about it, with the nonce that is its approval's. */
  function swap(change: Partial<RouterIntentPayload['intent']> = {}, of: ReadyWallet = wallet) {
    const { walletId, keyId, address } = of
    const limits = { maxNativeWei: 0n, expiresAtMs: Date.now() + 600_000 }
    const asks = { approvalId: newApproval(), walletId, keyId, userId: quorum.userId, ...limits }
    const nonce = approvalNonce(ulidBytes(asks.approvalId))
    const data = call('burn', [1n])
    const payload: RouterIntentPayload = {
      ...{ type: 'router-intent', chainId: 8453, verifyingContract: ROUTER },
      intent: { ...routerIntent(address), amountIn: 5n, data, nonce, ...change },
    }
    return { payload, asks, ...intentTerm(asks, payload) }
  }
  const withTerms = (payload: RouterIntentPayload, change: object): RouterIntentPayload => ({
    ...payload,
    intent: { ...payload.intent, ...change },
  })
  const asHex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`
  async function approvedSwap() {
    const made = swap()
    await asked(made.term, asHex(made.call))
    await given(first, made.term)
    return made
  }

  test('is signed by its terms, with whatever deadline, and for no others', async () => {
    const { payload, term, call: encoded } = swap()
    expect(await answerTo(payload, term)).toBe('APPROVAL_UNKNOWN')
    await asked(term, asHex(encoded))
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISSING')
    await given(first, term)
    const others: Partial<RouterIntentPayload['intent']>[] = [
      ...[{ minOut: 2n }, { amountIn: 6n }, { feeBps: 31 }, { data: call('burn', [2n]) }],
      ...[{ tokenIn: ALICE }, { tokenOut: ALICE }, { target: ALICE }],
    ]
    for (const change of others) {
      const name = Object.keys(change).join()
      expect(await answerTo(withTerms(payload, change), term), name).toBe('APPROVAL_MISMATCH')
    }
    const ofOther = withTerms(payload, { account: other.address })
    expect(await answerTo(ofOther, term, {}, other)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo({ ...payload, chainId: 1 }, term)).not.toBe('approved')
    const later = withTerms(payload, { deadline: payload.intent.deadline + 1 })
    expect(await answerTo(payload, term)).toBe('approved')
    expect(await answerTo(later, term)).toBe('approved')
  })

  test('is executed once: at no other nonce of the Router than its approval’s', async () => {
    const { payload, term } = await approvedSwap()
    for (const nonce of [payload.intent.nonce + 1n, 0n, 7n]) {
      expect(await answerTo(withTerms(payload, { nonce }), term)).toBe('APPROVAL_USED')
    }
    expect(await answerTo(payload, term)).toBe('approved')
    expect(await answerTo(withTerms(payload, { nonce: 8n }), term)).toBe('APPROVAL_USED')
  })

  test('is asked about again at another price without the key, and what was said before is void', async () => {
    const { payload, term, asks, call: encoded } = await approvedSwap()
    const keyProof = approvalKeyProof(wallet.proofKey, term, encoded)
    const askedAgainFor = (change: Partial<RouterIntentPayload['intent']>) => {
      const anew = intentTerm(asks, withTerms(payload, change))
      const answer = service.userSide.call('approval-ask', [
        ...[encodeApprovalTerm(anew.term), quorum.userId, anew.call, 0, 0],
        ...['a rule', '100.00', keyProof, null, 'quote'],
      ])
      return { term: anew.term, answer }
    }
    const change = { minOut: 9n, data: call('burn', [9n]) }
    const anew = askedAgainFor(change)
    await anew.answer
    const worse = withTerms(payload, change)
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo(worse, anew.term)).toBe('APPROVAL_MISSING')
    await given(second, anew.term)
    expect(await answerTo(worse, anew.term)).toBe('approved')
    expect(await refusalOf(askedAgainFor({ amountIn: 6n }).answer)).toBe('KEY_PROOF_MISSING')
  })

  test('brings the delegation that it needs on its chain, and an own call brings none', async () => {
    const { term } = await approvedSwap()
    const delegation: AuthorizationPayload = {
      ...{ type: 'authorization', chainId: 8453, nonce: nonce++, delegate: DELEGATE },
    }
    const elsewhere = { ...delegation, chainId: 1 }
    expect(await answerTo(elsewhere, term)).toBe('APPROVAL_MISMATCH')
    expect(await answerTo(delegation, term, {}, other)).toBe('APPROVAL_MISMATCH')
    const ofSend = await approvedPayment()
    expect(await answerTo(delegation, ofSend.term)).toBe('APPROVAL_MISMATCH')
    expect(await judged(service, (seq) => intentFor(wallet, delegation, seq, NO_KEY))).toBe(
      'KEY_PROOF_MISSING',
    )
    expect(await answerTo(delegation, term)).toBe('approved')
    const unasked = swap()
    await asked(unasked.term, asHex(unasked.call), { needed: 1 })
    expect(await answerTo({ ...delegation, nonce: nonce++ }, unasked.term)).toBe('APPROVAL_MISSING')
  })
})

describe('a proof is taken', () => {
  test('over this term, by an authorizer of this user alone', async () => {
    const payload = payment(1_000n)
    const [term, elsewhere] = [termFor(payload), termFor(payload)]
    await asked(term, payload.data)
    expect(await refusalOf(given(first, elsewhere, term.approvalId))).toBe('NOT_CONFIRMED')
    const cheaper = { ...term, maxNativeWei: 1n }
    expect(await refusalOf(given(first, cheaper, term.approvalId))).toBe('NOT_CONFIRMED')
    const grantLike = await first.signer.sign(certificateMessage(encodeApprovalTerm(term)))
    const authorizerId = Buffer.from(first.authorizerId.slice(4), 'hex')
    const forged = encodeProof({ kind: 'p256', authorizerId, signature: grantLike })
    const give = (proof: Uint8Array | null, token: string) =>
      refusalOf(service.userSide.call('approval-give', [term.approvalId, proof, token]))
    expect(await give(forged, '')).toBe('NOT_CONFIRMED')
    const stranger = encodeProof({
      ...{ kind: 'p256', authorizerId: randomBytes(16), signature: randomBytes(64) },
    })
    expect(await give(stranger, '')).toBe('NOT_CONFIRMED')
    // Dev's software authorizer is for users without one of their own, and for signed-in ones.
    expect(await give(null, '')).toBe('NOT_GRANTED')
    expect(await give(null, quorum.consoleToken)).toBe('NOT_CONFIRMED')
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISSING')
  })

  test('for a call that the live key asked for alone', async () => {
    const payload = payment(1_000n)
    const term = termFor(payload)
    const proofKey = randomBytes(32)
    expect(await refusalOf(asked(term, payload.data, { proofKey }))).toBe('KEY_PROOF_MISSING')
    expect(await refusalOf(asked(term, pays(ALICE, 1n)))).toBe('MALFORMED')
    const late = termFor(payload, { expiresAtMs: Date.now() - 1 })
    expect(await refusalOf(asked(late, payload.data))).toBe('APPROVAL_EXPIRED')
    const long = termFor(payload, { expiresAtMs: Date.now() + 30 * 86_400_000 })
    expect(await refusalOf(asked(long, payload.data))).toBe('MALFORMED')
    // What was used is forgotten one day; its id is too old by then to be asked for again.
    const old = Buffer.concat([Buffer.alloc(6, 1), randomBytes(10)])
    expect(await refusalOf(asked({ ...term, approvalId: old }, payload.data))).toBe('MALFORMED')
    expect(await refusalOf(given(first, term))).toBe('APPROVAL_UNKNOWN')
  })
})

describe('a call that waits for its time', () => {
  test('is approved after its delay by the user side’s own clock, and not before', async () => {
    const askedAndTried = async () => {
      const payload = transfer(nonce++, { to: ALICE, value: 5n, gasLimit: 21_000n })
      const term = termFor(payload)
      expect(await answerTo(payload, term)).toBe('APPROVAL_UNKNOWN')
      const startedMs = Date.now()
      await asked(term, '0x')
      const answer = await answerTo(payload, term)
      return { payload, term, answer, isInTime: Date.now() < startedMs + DELAY_MS }
    }
    let tried = await askedAndTried()
    // A busy machine may take the whole delay for that; then it is early no more.
    for (let tries = 1; !tried.isInTime && tries < 10; tries++) tried = await askedAndTried()
    const { payload, term, answer } = tried
    expect(answer).toBe('APPROVAL_EARLY')
    await expect.poll(() => answerTo(payload, term), { interval: 100 }).toBe('approved')
  })

  test('is refused once it was declined', async () => {
    const payload = transfer(nonce++, { to: ALICE, value: 5n, gasLimit: 21_000n })
    const term = termFor(payload)
    await asked(term, '0x')
    await service.userSide.call('approval-end', [term.approvalId, 'declined'])
    expect(await answerTo(payload, term)).toBe('APPROVAL_DECLINED')
  })
})

describe('an authorizer that was removed meanwhile', () => {
  test('counts no more', async () => {
    const payload = payment(1_000n)
    const term = termFor(payload)
    await asked(term, payload.data)
    await given(third, term)
    const { json } = await client.call('remove', { authorizer_id: third.authorizerId })
    const message = certificateMessage(Buffer.from(String(json.certificate), 'base64url'))
    const proof = await first.prove(String(json.challenge), message)
    const { status } = await client.call('approve', { ceremony_id: json.ceremony_id, proof })
    expect(status).toBe(200)
    expect(await answerTo(payload, term)).toBe('APPROVAL_MISSING')
    expect(await refusalOf(given(third, term))).toBe('NOT_CONFIRMED')
    await given(second, term)
    expect(await answerTo(payload, term)).toBe('approved')
  })

  test('keeps no other proof from a user side that was restored and has none', async () => {
    const payload = payment(1_000n)
    const term = termFor(payload)
    await asked(term, payload.data)
    const proofs = [await proofBy(third, term), await proofBy(second, term)]
    const outcome = await quorum.coSigner.sign({
      ...{ walletId: wallet.walletId, keyId: wallet.keyId, requestId: randomBytes(16) },
      ...{ proofKey: null, replaces: null, payload },
      approval: { ...approvalOf(term), proofs },
    })
    expect(outcome).toMatchObject({ ok: true })
  })
})

describe('at the identity provider’s own page', () => {
  const nameOf = (term: ApprovalTerm) => approvalOf(term).approvalId

  test('the owner reads the call, approves it, and the service learns of it', async () => {
    const payload = payment(3_000n)
    const term = termFor(payload)
    await asked(term, payload.data, { needed: 1 })
    const approval_id = nameOf(term)
    const shown = await client.call('call', { approval_id })
    expect(shown).toMatchObject({ status: 200, json: { state: 'open', approval_id } })
    expect(shown.json.lines).toContainEqual({ name: 'Payee', value: ALICE })
    expect(shown.json.term).toBe(encodeApprovalTerm(term).toString('base64url'))
    const message = approvalTermMessage(encodeApprovalTerm(term))
    const stale = await first.prove('', approvalTermMessage(encodeApprovalTerm(termFor(payload))))
    expect(await client.call('approve-call', { approval_id, proof: stale })).toMatchObject({
      status: 403,
    })
    const proof = await first.prove(String(shown.json.challenge), message)
    expect(await client.call('approve-call', { approval_id, proof })).toMatchObject({
      status: 200,
      json: { state: 'approved' },
    })
    const { decisions, cursor } = await quorum.coSigner.approvalDecisions(null)
    expect(decisions).toMatchObject([
      { approvalId: approval_id, subWalletId: wallet.walletId, userId: quorum.userId },
    ])
    expect(decisions[0]).toMatchObject({ decision: 'approve', authorizerId: first.authorizerId })
    const signature = Buffer.from(proof.signature, 'base64url')
    const authorizerId = Buffer.from(first.authorizerId.slice(4), 'hex')
    expect(decisions[0]?.proof).toEqual(encodeProof({ kind: 'p256', authorizerId, signature }))
    expect((await quorum.coSigner.approvalDecisions(cursor)).decisions).toEqual([])
    expect(await quorum.coSigner.approvalDecisions('999')).toEqual({ decisions, cursor })
    expect(await answerTo(payload, term)).toBe('approved')
  })

  test('or declines it with a reason, for good', async () => {
    const payload = payment(3_000n)
    const term = termFor(payload)
    await asked(term, payload.data, { needed: 1 })
    await given(first, term)
    const { cursor } = await quorum.coSigner.approvalDecisions(null)
    const approval_id = nameOf(term)
    const declined = await client.call('decline-call', { approval_id, comment: 'not this month' })
    expect(declined).toMatchObject({ status: 200, json: { state: 'ended' } })
    expect((await quorum.coSigner.approvalDecisions(cursor)).decisions).toMatchObject([
      { approvalId: approval_id, decision: 'decline', comment: 'not this month', proof: null },
    ])
    expect(await answerTo(payload, term)).toBe('APPROVAL_DECLINED')
    const again = await client.call('decline-call', { approval_id, comment: '' })
    expect(again).toMatchObject({ status: 409, json: { error: { code: 'APPROVAL_DECLINED' } } })
  })

  test('nobody else sees that it is there, and who is signed out is asked to sign in', async () => {
    const payload = payment(3_000n)
    const term = termFor(payload)
    const approval_id = nameOf(term)
    const unknown = await client.call('call', { approval_id })
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'APPROVAL_UNKNOWN' } } })
    await asked(term, payload.data)
    await createUser(join(quorum.home, 'identity-provider'), OTHER.email, OTHER.password)
    const passkeys = { rpId: WEBAUTHN.rp_id, origin: WEBAUTHN.origins[0] ?? '' }
    const stranger = await connectAuthorizers(quorum.home, OTHER, passkeys)
    expect(await stranger.call('call', { approval_id })).toEqual(unknown)
    const proof = await first.prove('', approvalTermMessage(encodeApprovalTerm(term)))
    expect((await stranger.call('approve-call', { approval_id, proof })).status).toBe(404)
    expect((await stranger.call('decline-call', { approval_id, comment: '' })).status).toBe(404)
    const none = await fetch(`${issuerOf(quorum.home)}/authorizers/api/call`, {
      ...{ method: 'POST', body: JSON.stringify({ approval_id }) },
    })
    expect(none.status).toBe(403)
  })
})

describe('the honest service', () => {
  test('has both domains keep the proof, and signs by it without the key’s secret', async () => {
    const { coSigner, userId, consoleToken } = quorum
    const payload = payment(2_000n)
    const term = termFor(payload)
    const call = fromHex(payload.data)
    const keyProof = approvalKeyProof(wallet.proofKey, term, call)
    await coSigner.registerApproval({
      ...{ term, userId, call, needed: 1, delaySeconds: 0, keyProof },
      ...{ rule: 'large payments', spendUsd: '0.002' },
    })
    const update = { term, userId, consoleToken, earlier: [] }
    await expect(coSigner.approve({ ...update, authorization: null })).rejects.toMatchObject({
      fault: { code: 'AUTHORIZATION_REQUIRED' },
    })
    const proof = await proofBy(second, term)
    const approval = await coSigner.approve({ ...update, authorization: { proof } })
    expect(approval).toMatchObject({ authorizerId: second.authorizerId, authorizedBy: 'p256' })
    const outcome = await coSigner.sign({
      ...{ walletId: wallet.walletId, keyId: wallet.keyId, requestId: randomBytes(16) },
      ...{ proofKey: null, replaces: null, payload },
      approval: { ...approvalOf(term), proofs: [approval.proof] },
    })
    expect(outcome).toMatchObject({ ok: true })
  })

  test('leaves evidence in which every approval of what was asked about is proven', async () => {
    const { home } = quorum
    const places = { home, services: null, identity: null, registry: null, root: null }
    const { report } = await auditHome(places)
    expect(report.problems).toEqual([])
  })

  test('leaves evidence that says who approved what, and when', async () => {
    const listed = ['verify-audit', '--approvals', '--json']
    const { people, ...counted } = JSON.parse(await countersignOk(quorum.home, listed))
    expect(people.length).toBe(counted.approved_by_people)
    const by = new Set(people.map((one: { approved_by: string }) => one.approved_by))
    expect(by.size).toBeGreaterThan(1)
    expect(people).toContainEqual({
      approved_by: expect.stringMatching(/^aut_/),
      at: expect.stringMatching(/Z$/),
      call: expect.objectContaining({
        approve: expect.stringMatching(/^apr_/),
        wallet: wallet.walletId,
        chain: '8453',
        to: USDC.toLowerCase(),
        keccak_256_of_calldata: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      }),
    })
  })

  test('leaves evidence that fails without a proof, or without anybody having been asked', async () => {
    const { home } = quorum
    const layouts = [serviceLayout(home), userSideLayout(home)]
    const logs = layouts.map(({ evidence }) => openEvidenceReader(evidence))
    const [ofService, ofUser] = logs.map((log) => readEvidence('log', log.entries()))
    await Promise.all(logs.map((log) => log.close()))
    if (ofService === undefined || ofUser === undefined) throw new Error('no logs')
    const registry = openRegistry(
      readRegistryFile(registryPath(home)),
      readRootKey(serviceLayout(home).rootKey),
    )
    const problemsWith = async (approvals: typeof ofUser.approvals) => {
      const user = { ...ofUser, approvals }
      const { problems } = await verifyEvidence([{ ...ofService, approvals: [] }], user, registry)
      return problems.filter((problem) => problem.includes('not proven that a person'))
    }
    const asked = ofUser.approvals.filter(({ value }) => value.action === 'asked')
    expect(await problemsWith(ofUser.approvals)).toEqual([])
    const unproven = await problemsWith(asked)
    expect(unproven.length).toBeGreaterThan(5)
    expect(unproven.every((problem) => problem.includes('APPROVAL_MISSING'))).toBe(true)
    expect((await problemsWith([])).some((one) => one.includes('APPROVAL_UNKNOWN'))).toBe(true)
  })
})

function approvalOf({ approvalId, expiresAtMs, maxNativeWei }: ApprovalTerm) {
  const id = `apr_${ulidOfBytes(approvalId)}` as ApprovalId
  return { approvalId: id, expiresAtMs, maxNativeWei }
}
