import { timingSafeEqual } from 'node:crypto'
import type { ShareStore } from '../../custody/domain-keys/share-store.js'
import type { WalletRecord } from '../../custody/domain-keys/wallet-record.js'
import type { EvidenceLog } from '../../custody/evidence/evidence-log.js'
import { encodeBatchEvidence } from '../../custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import type { Persons } from '../../custody/members/persons.js'
import type { Cell } from '../../domain/cells.js'
import { approvalMessage, coSignMessage, decodeHeader, seqOf } from '../../quorum-protocol/batch.js'
import { u64 } from '../../quorum-protocol/bytes.js'
import {
  decodeIntent,
  type Intent,
  intentId,
  isAbsent,
  keyProofOver,
  usesGrant,
} from '../../quorum-protocol/intent.js'
import { INTENT_LIFETIME_MS_MAX } from '../../quorum-protocol/limits.js'
import type { BatchApproval, CoSignedBatch } from '../../quorum-protocol/methods/signing.js'
import { type P256Signer, verifyP256 } from '../../quorum-protocol/p256.js'
import { checkPins, type DecodedPayload, decodePayload } from '../../quorum-protocol/payload.js'
import { denialParts } from '../../quorum-protocol/policy-denial.js'
import { codeOf, REFUSAL_CODES, Refusal } from '../../quorum-protocol/refusal.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { ShareSealer } from '../../quorum-protocol/sealed-shares.js'
import type { Ancestor } from './ancestors.js'
import type { ApprovalReader } from './approval-rows.js'
import { bindApproval, requireGas, standingOf } from './approval-standing.js'
import { Frozen, type UserSideFreezes } from './freezes.js'
import { type CountedUse, giveBack } from './give-back.js'
import { NO_POLICIES, pathOf, policiesOf } from './granted.js'
import type { Grants } from './grants.js'
import { judgePath, judgePolicies, PolicyDenied } from './judge-policy.js'
import { takeKeyless } from './keyless.js'
import type { Lanes } from './lanes.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'
import {
  entryOf,
  isCancel,
  keyedAs,
  NonceTaken,
  relate,
  requireOtherCall,
  underApproval,
  withGasOf,
} from './nonce-ledger.js'
import { requireIntentOf } from './own-cell.js'
import {
  checkGrant,
  checkServicePayload,
  checkUserPayload,
  endsDelegation,
  isReplacement,
  needsGrant,
} from './policy.js'
import { countedUses, countsGas, usesOfRaisedFee } from './raised-fees.js'
import { type IntentAnswer, type Refused, sealShares } from './seal-approved.js'

/** The parts of the ledger by which an approval is judged. */
interface ApproveLedger extends Pick<LedgerStore, 'hasIntent' | 'usage' | 'recorded'> {
  readonly approvals: Pick<ApprovalReader, 'approval' | 'approvalUse'>
  decide<T>(write: (ledger: ApproveWriter) => T): T
}

/** What an approval writes to the ledger. */
type ApproveWriter = Pick<
  LedgerWriter,
  | 'entry'
  | 'putEntry'
  | 'rememberIntents'
  | 'putUsage'
  | 'awaitRecord'
  | 'putApprovalUse'
  | 'putLane'
  | 'keyless'
  | 'putKeyless'
>

export interface ApproveContext {
  /** The cell of the service that sent the batch. */
  readonly cell: Cell
  readonly registry: Registry
  readonly shares: Pick<ShareStore, 'get' | 'openShareInto'>
  readonly ledger: ApproveLedger
  readonly grants: Pick<Grants, 'view' | 'proofKey'>
  readonly freezes: Pick<UserSideFreezes, 'requireThawed' | 'requireInstanceThawed'>
  readonly lanes: Pick<Lanes, 'take'>
  readonly persons: Persons
  readonly signer: P256Signer
  readonly evidence: Pick<EvidenceLog, 'append'>
  /** The session with the quorum signer's current boot; null before the first. */
  readonly sealer: ShareSealer | null
}

const NO_ANCESTORS: readonly Ancestor[] = []
const NOT_COUNTED: readonly CountedUse[] = []

interface Approval extends BatchApproval {
  readonly answers: readonly IntentAnswer[]
}

interface Candidate {
  readonly id: Uint8Array
  readonly intent: Intent
  readonly encoded: Uint8Array
  readonly payload: DecodedPayload
  readonly wallet: WalletRecord
  /** After the approval: what the policies of its key, and of those above, counted for it. */
  counted: readonly CountedUse[]
}

/** The candidate once it is approved and in the ledger; otherwise the refusal. */
type Judgement = Candidate | Refused

/**
 * Judges a co-signed batch and approves what the grants cover. The evidence, which the ledger
 * indexes, is on disk before the approval leaves: a crash loses an answer, never a decision.
 * @throws Refusal when the batch itself is not acceptable
 */
export async function approveBatch(
  { header: headerBytes, intents, coSignature }: CoSignedBatch,
  context: ApproveContext,
  nowMs: number,
): Promise<Approval> {
  const header = decodeHeader(headerBytes)
  if (intents.length !== header.count) throw new Refusal('MALFORMED', 'batch size')
  const coSigner = context.registry.keyById('co_signers', header.kid, nowMs)
  if (coSigner === null) throw new Refusal('UNAUTHENTIC', 'co-signer key not in the registry')
  const ids = intents.map(intentId)
  const coSigned = coSignMessage(headerBytes, ids)
  if (!verifyP256(coSigner, coSigned, coSignature)) {
    throw new Refusal('UNAUTHENTIC', 'co-signature')
  }
  const { sealer } = context
  if (sealer === null) throw new Refusal('NO_SESSION', 'quorum signer')

  const judged = context.ledger.decide((ledger) => {
    context.lanes.take(header.batchSeq, context.cell.number, ledger)
    const results = intents.map((encoded, index) => {
      const id = ids[index] ?? Buffer.alloc(0)
      return judge(encoded, id, seqOf(header.batchSeq, index), ledger, context, nowMs)
    })
    const approved = results.filter((result) => 'intent' in result)
    if (approved.length > 0) {
      const expiresAtMs = Math.max(...approved.map(({ intent }) => intent.expiresAtMs))
      ledger.rememberIntents(
        expiresAtMs,
        approved.map(({ id }) => id),
      )
    }
    return results
  })

  let isSigned = false
  try {
    const { bitmap, answers, shares } = sealShares(judged, sealer, context.shares)
    const approval = await context.signer.sign(approvalMessage(coSigned, bitmap, sealer.boot))
    isSigned = true
    const body = encodeBatchEvidence({
      header: headerBytes,
      intents,
      coSignature,
      approval,
      bitmap,
      quorumBoot: sealer.boot,
    })
    await context.evidence.append({ timeMs: nowMs, kind: EVIDENCE_KIND.batch, body })
    return { bitmap, approval, quorumBoot: sealer.boot, answers, shares }
  } catch (error) {
    if (!isSigned) giveBackRouterIntents(judged, context, nowMs)
    throw error
  } finally {
    // Each is in the evidence now, or never will be; what was counted stays counted for this run.
    for (const one of judged) {
      if ('intent' in one && one.counted.length > 0) context.ledger.recorded(one.intent.seq)
    }
  }
}

/**
 * Undoes the counts of a batch that was never signed, for example while the key store is
 * unavailable: each retry of a call is another intent and would count again. This is safe, because
 * without a signature no approval has left or can enter the evidence; rows that survive a crash can
 * only count too much. After a signature nothing is undone, even if the evidence fails: the entry
 * may be in the log, which is then broken, and the next start counts what it holds. A transaction
 * stays counted, because it keeps its nonce, where the same bytes are approved without counting
 * again.
 */
function giveBackRouterIntents(
  judged: readonly Judgement[],
  { ledger }: ApproveContext,
  nowMs: number,
): void {
  const uses = judged.flatMap((one) =>
    'intent' in one && one.payload.kind === 'router-intent' ? one.counted : NOT_COUNTED,
  )
  if (uses.length > 0) ledger.decide((writer) => giveBack(uses, nowMs, ledger, writer))
}

/** Judges one intent. It never throws. */
function judge(
  encoded: Uint8Array,
  id: Uint8Array,
  seq: number,
  ledger: ApproveWriter,
  context: ApproveContext,
  nowMs: number,
): Judgement {
  try {
    const candidate = readCandidate(encoded, id, seq, context, nowMs)
    approve(candidate, ledger, context, nowMs)
    return candidate
  } catch (error) {
    if (error instanceof NonceTaken) return [REFUSAL_CODES.NONCE_TAKEN, error.heldBy]
    if (error instanceof Frozen) return [REFUSAL_CODES.FROZEN, error.detail]
    if (error instanceof PolicyDenied) {
      return [REFUSAL_CODES.POLICY_DENIED, denialParts(error.denial)]
    }
    if (codeOf(error) === 'EXPIRED') return [REFUSAL_CODES.EXPIRED, u64(nowMs)]
    return [REFUSAL_CODES[codeOf(error)]]
  }
}

function readCandidate(
  encoded: Uint8Array,
  id: Uint8Array,
  seq: number,
  context: ApproveContext,
  nowMs: number,
): Candidate {
  const intent = decodeIntent(encoded)
  if (intent.expiresAtMs <= nowMs || intent.expiresAtMs > nowMs + INTENT_LIFETIME_MS_MAX) {
    throw new Refusal('EXPIRED', 'intent')
  }
  if (intent.seq !== seq || context.ledger.hasIntent(id)) throw new Refusal('REPLAYED', 'intent')
  const wallet = context.shares.get(intent.walletId)
  if (wallet === null || wallet.proofs === null) throw new Refusal('UNKNOWN_WALLET', 'no such key')
  if (wallet.certificate.epoch !== intent.epoch) throw new Refusal('WRONG_EPOCH', 'share epoch')
  const payload = decodePayload(intent.type, intent.payload)
  requireIntentOf(context.cell, intent, payload, wallet.certificate.kind, context.grants)
  checkPins(payload, context.registry.chains)
  return { id, intent, encoded, payload, wallet, counted: NOT_COUNTED }
}

function approve(
  candidate: Candidate,
  ledger: ApproveWriter,
  context: ApproveContext,
  nowMs: number,
): void {
  const { id, intent, payload, wallet } = candidate
  const { kind } = wallet.certificate
  if (payload.kind === 'router-intent') {
    // The Router's nonces are unordered and its own; the ledger holds only the account's.
    if (kind !== 'user') throw new Refusal('PAYLOAD_NOT_ALLOWED', 'router intent of a gas wallet')
    checkUserPayload(payload, wallet.address, nowMs)
    requireThawed(candidate, context)
    checkKey(candidate, ledger, context, nowMs)
    bindApproval(intent, payload, ledger)
    return
  }
  const held = ledger.entry(intent.walletId, payload.chainId, payload.nonce)
  // A cancel with a key and nothing to replace is a call like any other, judged by its grant.
  const cancels = isCancel(payload, wallet.address) && (held !== null || !usesGrant(intent))
  const rests = payload.kind === 'authorization' ? null : intent.approval
  const fresh = entryOf(id, payload, intent.payload, rests)
  const relation = relate(held, fresh, intent.replaces, cancels)
  const isKeyed = relation === 'new' && usesGrant(intent)
  const entry = keyedAs(
    relation === 'new' ? fresh : underApproval(held, fresh, relation),
    isKeyed || kind === 'service' ? fresh.maxFeePerGasWei : (held?.keyedFeeWei ?? null),
  )
  if (relation === 'fee-bump' && entry.approval !== null) {
    requireGas(payload, entry.approval.maxNativeWei)
  }
  if (!isReplacement(relation, held, cancels)) requireThawed(candidate, context)
  if (intent.approval !== null && kind === 'service') {
    throw new Refusal('PAYLOAD_NOT_ALLOWED', 'nobody approves what a gas wallet sends')
  }
  if (relation === 'new' && kind === 'service') {
    checkServicePayload(intent, payload, context.registry.chains.get(payload.chainId))
  }
  if (kind === 'user') checkUserPayload(payload, wallet.address, nowMs)
  // An unverified proof must not look like a key's proof in the evidence.
  const replaces = relation === 'fee-bump' || relation === 'cancel'
  if (replaces && !isAbsent(intent.keyProof)) checkKeyProof(candidate, context)
  const ends = endsDelegation(intent, payload, held)
  if (kind === 'user' && (relation === 'cancel' || ends)) {
    takeKeyless(intent.walletId, payload, held, ledger, nowMs)
  }
  if (needsGrant(relation, kind) && !ends) {
    if (!usesGrant(intent)) requireOtherCall(held, fresh)
    checkKey(candidate, ledger, context, nowMs)
    bindApproval(intent, payload, ledger)
  }
  if (relation === 'fee-bump' && held !== null && payload.kind === 'transaction') {
    count(candidate, usesOfRaisedFee(held, payload, context, nowMs), ledger)
  }
  // Where no policy counted the call, no ceiling counts its gas.
  const counts =
    isKeyed &&
    payload.kind === 'transaction' &&
    candidate.counted.length > 0 &&
    countsGas(intent.keyId, payload.chainId, context)
  const before = relation === 'repeat' || relation === 'fee-bump' ? held?.gasOfKey : undefined
  const gasOfKey = counts ? intent.keyId : before
  ledger.putEntry(intent.walletId, payload.chainId, payload.nonce, withGasOf(entry, gasOfKey))
}

/** Refuses new work for what is frozen. The refusal names the first freeze that stops the call. */
function requireThawed({ intent, wallet }: Candidate, { freezes, grants }: ApproveContext): void {
  const { kind, ownerHash } = wallet.certificate
  if (kind === 'service') freezes.requireInstanceThawed()
  else {
    const view = grants.view(intent.keyId)
    freezes.requireThawed(ownerHash, intent.walletId, view?.key.grantId ?? null)
    for (const { grantId } of view?.ancestors ?? NO_ANCESTORS) {
      freezes.requireThawed(ownerHash, intent.walletId, grantId)
    }
  }
}

/** Runs last, because it counts what it lets pass. */
function checkKey(
  candidate: Candidate,
  ledger: ApproveWriter,
  context: ApproveContext,
  nowMs: number,
): void {
  const { intent, payload } = candidate
  const view = context.grants.view(intent.keyId)
  checkGrant(intent, payload, view, nowMs)
  checkKeyProof(candidate, context)
  const standing = intent.approval === null ? null : standingOf(candidate, context, nowMs)
  const policies = view === null ? NO_POLICIES : policiesOf(view)
  const ancestors = view?.ancestors ?? NO_ANCESTORS
  if (ancestors.length === 0) {
    if (policies.length === 0) return
    const before = context.ledger.usage(intent.grantId)
    const after = judgePolicies(policies, payload, before, nowMs, standing)
    if (after !== null) count(candidate, [{ grantId: intent.grantId, before, after }], ledger)
  } else {
    const bound = pathOf(intent.grantId, policies, ancestors, context.ledger)
    const usages = judgePath(bound, payload, nowMs, standing)
    count(candidate, countedUses(bound, usages), ledger)
  }
}

/** Writes what policies counted; nothing where they counted nothing. */
function count(candidate: Candidate, uses: readonly CountedUse[], ledger: ApproveWriter): void {
  if (uses.length === 0) return
  candidate.counted = uses
  for (const { grantId, after } of uses) ledger.putUsage(grantId, after)
  ledger.awaitRecord(candidate.intent.seq)
}

/** A waiting call was registered with the live key's proof, which is not available now. */
function checkKeyProof({ intent, encoded }: Candidate, { grants }: ApproveContext): void {
  const isAbsentProof = isAbsent(intent.keyProof)
  if (isAbsentProof && intent.approval !== null) return
  const proofKey = isAbsentProof ? null : grants.proofKey(intent.keyId)
  if (proofKey === null) throw new Refusal('KEY_PROOF_MISSING', 'no proof of the API key')
  if (!timingSafeEqual(keyProofOver(proofKey, encoded), intent.keyProof)) {
    throw new Refusal('KEY_PROOF_MISSING', 'proof of another API key')
  }
}
