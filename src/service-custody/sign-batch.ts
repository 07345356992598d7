import type { Timers } from '../clock/timers.js'
import type { ShareStore } from '../custody/domain-keys/share-store.js'
import type { WalletRecord } from '../custody/domain-keys/wallet-record.js'
import type { EvidenceLog } from '../custody/evidence/evidence-log.js'
import { encodeBatchEvidence } from '../custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../custody/evidence/stored-evidence.js'
import { coSignMessage, encodeHeader, hasBit, seqOf } from '../quorum-protocol/batch.js'
import { ByteReader } from '../quorum-protocol/bytes.js'
import {
  encodeIntent,
  type IntentApproval,
  intentId,
  NO_ID,
  NO_REFERENCE,
  PAYLOAD_TYPE,
  type PayloadType,
} from '../quorum-protocol/intent.js'
import { askQuorumSigner } from '../quorum-protocol/methods/ask.js'
import type { BatchApproval, CoSignedBatch } from '../quorum-protocol/methods/signing.js'
import { lowS, type P256Signer } from '../quorum-protocol/p256.js'
import { digestOf } from '../quorum-protocol/payload.js'
import { parseDenial } from '../quorum-protocol/policy-denial.js'
import { Refusal, refusalCode } from '../quorum-protocol/refusal.js'
import { allocateShares, SHARE_BYTES } from '../quorum-protocol/sealed-shares.js'
import { signedTransaction } from '../quorum-protocol/transaction.js'
import type { SignOutcome } from './co-signer.js'
import type { GrantReference } from './grant-references.js'
import { clocksDiffer, failed } from './outcome.js'
import type { QuorumLink, QuorumLinkSession } from './quorum-link.js'
import type { SignatureCheck, SignatureChecks } from './signature-checks.js'

/** One requested signature, checked and encoded, that waits for its batch. */
export interface PreparedIntent {
  readonly walletId: Uint8Array
  readonly keyId: Uint8Array
  readonly requestId: Uint8Array
  readonly replaces: Uint8Array | null
  readonly proofKey: Uint8Array | null
  readonly grant: GrantReference | null
  /** The approval that a rule required; null for most intents. */
  readonly approval: IntentApproval | null
  readonly wallet: WalletRecord
  readonly type: PayloadType
  /** Encoded here; both judging domains decode it. */
  readonly payload: Buffer
}

export interface SignBatchContext {
  readonly link: Pick<QuorumLink, 'userSide' | 'quorum'>
  readonly session: QuorumLinkSession
  readonly shares: Pick<ShareStore, 'openShareInto'>
  readonly signer: P256Signer
  readonly evidence: Pick<EvidenceLog, 'append'>
  readonly timers: Pick<Timers, 'now' | 'random'>
  readonly checks: Pick<SignatureChecks, 'check'>
}

/** Shorter than the protocol allows: an intent is judged at once or not at all. */
const INTENT_LIFETIME_MS = 15_000

interface PreparedBatch extends CoSignedBatch {
  readonly ids: readonly Buffer[]
  /** The expiry by this service's clock. */
  readonly expiresAtMs: number
}

/** The quorum signer's answer for one intent of a batch. */
interface SignedIntent extends SignatureCheck {
  readonly index: number
  readonly item: PreparedIntent
  readonly id: Buffer
}

/** Encodes and co-signs the intents, one slot of the batch for each. */
export async function coSignBatch(
  batch: readonly PreparedIntent[],
  batchSeq: number,
  { signer, timers }: Pick<SignBatchContext, 'signer' | 'timers'>,
): Promise<PreparedBatch> {
  const expiresAtMs = timers.now() + INTENT_LIFETIME_MS
  const intents = batch.map((item, index) =>
    encodeIntent(
      {
        type: item.type,
        walletId: item.walletId,
        keyId: item.keyId,
        grantId: item.grant?.grantId ?? NO_ID,
        grantVersion: item.grant?.version ?? 0,
        epoch: item.wallet.certificate.epoch,
        seq: seqOf(batchSeq, index),
        expiresAtMs,
        requestId: item.requestId,
        replaces: item.replaces ?? NO_REFERENCE,
        approval: item.approval,
        payload: item.payload,
      },
      item.proofKey,
    ),
  )
  const ids = intents.map(intentId)
  const header = encodeHeader({
    batchId: timers.random.bytes(16),
    batchSeq,
    count: batch.length,
    kid: signer.kid,
  })
  const coSignature = await signer.sign(coSignMessage(header, ids))
  return { header, intents, ids, coSignature, expiresAtMs }
}

/**
 * Turns the identity provider's answer to a co-signed batch into verified signatures.
 * @param approved the identity provider's answer to `approve`
 * @returns one outcome per intent, in order
 * @throws Refusal or Unanswered when the whole batch failed
 */
export async function completeBatch(
  batch: readonly PreparedIntent[],
  coSigned: PreparedBatch,
  approved: BatchApproval,
  context: SignBatchContext,
): Promise<SignOutcome[]> {
  const { bitmap, approval, answers } = approved
  if (answers.length !== batch.length) throw new Refusal('MALFORMED', 'approval')
  const refusals = answers.map((answer, index) =>
    hasBit(bitmap, index) ? null : refusalOf(answer, coSigned.expiresAtMs, context.timers.now()),
  )
  if (refusals.every((refusal) => refusal !== null)) return refusals
  const { sealer } = context.session
  if (Buffer.compare(approved.quorumBoot, sealer.boot) !== 0) {
    throw new Refusal('NO_SESSION', 'quorum signer restarted')
  }
  const serviceShares = sealOwnShares(batch, coSigned.ids, bitmap, context)
  // Both approvals are on disk before a signature is handed out. The flush and the quorum signer
  // run at the same time.
  const recorded = context.evidence.append({
    timeMs: context.timers.now(),
    kind: EVIDENCE_KIND.batch,
    body: encodeBatchEvidence({
      header: coSigned.header,
      intents: coSigned.intents,
      coSignature: coSigned.coSignature,
      approval,
      bitmap,
      quorumBoot: sealer.boot,
    }),
  })
  const [signed] = await Promise.all([
    askQuorumSigner(context.link.quorum, 'sign', {
      header: coSigned.header,
      intents: coSigned.intents,
      coSignature: coSigned.coSignature,
      bitmap,
      approval,
      userShares: approved.shares,
      serviceShares,
    }),
    recorded,
  ])
  const toCheck: SignedIntent[] = []
  const outcomes = batch.map((item, index) => {
    const signature = signed[index]
    if (refusals[index]) return refusals[index]
    if (!(signature instanceof Uint8Array)) return failed(refusalCode(signature))
    const { point } = item.wallet
    const id = coSigned.ids[index] ?? NO_REFERENCE
    toCheck.push({ index, item, id, point, digest: digestOf(item.type, item.payload), signature })
    return failed('INTERNAL')
  })
  const valid = await context.checks.check(toCheck)
  for (const [place, one] of toCheck.entries()) {
    if (valid[place] !== true) continue
    const outcome = outcomeOf(one, context.signer)
    outcomes[one.index] = outcome instanceof Promise ? await outcome : outcome
  }
  return outcomes
}

function refusalOf(answer: unknown, expiresAtMs: number, nowMs: number): SignOutcome {
  const [number, extra] = Array.isArray(answer) ? (answer as unknown[]) : []
  const code = refusalCode(number)
  if (code === 'POLICY_DENIED') {
    const denial = parseDenial(extra)
    return denial === null ? failed(code) : { ...failed(code), denial }
  }
  const bytes = extra instanceof Uint8Array ? extra : undefined
  // An intent that has time left by this clock has not expired: one of the two clocks is wrong.
  if (code === 'EXPIRED' && bytes?.length === 8 && nowMs < expiresAtMs) {
    return clocksDiffer(new ByteReader(bytes).u64(), nowMs)
  }
  return failed(code, bytes)
}

/** Returns the service's shares of the approved intents, in their order. */
function sealOwnShares(
  batch: readonly PreparedIntent[],
  ids: readonly Uint8Array[],
  bitmap: number,
  { shares, session }: SignBatchContext,
): Buffer {
  const isApproved = (_: unknown, index: number) => hasBit(bitmap, index)
  const approved = batch.filter(isApproved)
  const opened = allocateShares(approved.length)
  try {
    approved.forEach(({ wallet }, place) => {
      shares.openShareInto(wallet, opened, place * SHARE_BYTES)
    })
    return session.sealer.seal(opened, ids.filter(isApproved))
  } finally {
    opened.fill(0)
  }
}

/**
 * Builds the caller's outcome from a checked signature. Only a co-signed Router intent needs a
 * promise.
 */
function outcomeOf(
  { item, id, digest, signature: framed }: SignedIntent,
  signer: P256Signer,
): SignOutcome | Promise<SignOutcome> {
  // Copies the signature: a view would keep the answer's whole frame in memory.
  const signature = Buffer.from(framed)
  switch (item.type) {
    case PAYLOAD_TYPE.feeMarketTransaction:
    case PAYLOAD_TYPE.setCodeTransaction: {
      const { rawTransaction, txHash } = signedTransaction(item.payload, signature)
      return { ok: true, signature, rawTransaction, txHash, intentId: id }
    }
    case PAYLOAD_TYPE.authorization:
      return { ok: true, signature, intentId: id }
    case PAYLOAD_TYPE.routerIntent: {
      // Read together with the signing: a rotation may exchange the key while a signature is in
      // progress.
      const { publicKey } = signer
      return signer.sign(digest).then((coSignature) => ({
        ok: true,
        signature,
        intentId: id,
        coSignature: { publicKey, signature: lowS(coSignature) },
      }))
    }
  }
}
