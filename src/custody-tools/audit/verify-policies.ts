import { encodeApprovalTerm } from '../../custody/approvals/approval-term.js'
import {
  type ApprovalStanding,
  isCovered,
  placeOf,
  requireGas,
  requireOwnNonce,
  termOf,
} from '../../identity-provider/vault/approval-standing.js'
import { judgePolicies, PolicyDenied } from '../../identity-provider/vault/judge-policy.js'
import { entryOf, isCancel } from '../../identity-provider/vault/nonce-ledger.js'
import { endsDelegation } from '../../identity-provider/vault/policy.js'
import type { Policy } from '../../policy/policy.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../../policy/policy-ledger.js'
import { sameBytes, viewOf } from '../../quorum-protocol/bytes.js'
import { type Intent, usesGrant } from '../../quorum-protocol/intent.js'
import type { Certificate } from '../../quorum-protocol/keygen.js'
import { type DecodedPayload, decodePayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { AuthorityReport } from './verify-authority.js'

/** An intent that the identity provider approved. */
interface DatedApproval {
  readonly id: string
  readonly atMs: number
  readonly intent: Intent
  /** 20 bytes; null without a certificate of its wallet. */
  readonly address: Uint8Array | null
  /** 32 bytes: the hash of the wallet's user id; null without a certificate. */
  readonly ownerHash: Uint8Array | null
  /** The wallet's kind; null without a certificate. */
  readonly kind: Certificate['kind'] | null
}

type Authority = Pick<
  AuthorityReport,
  'policiesOf' | 'approvalAt' | 'approvalTerms' | 'ancestorsOf'
>

interface Replay {
  readonly authority: Authority
  readonly usages: Map<string, PolicyLedger>
  /** The most gas that each call's approval allows; null for a call without one. */
  readonly calls: Map<string, bigint | null>
  /** The place where each approval was used, indexed by its id. */
  readonly uses: Map<string, Uint8Array>
  /** Calls at their nonces that a key or people had requested. */
  readonly proven: Set<string>
}

/**
 * Judges every approval again by the policy of its grant version and the entries before it:
 * operation, callee, arguments, amounts, hours, counts, ceilings, and people's approvals where a
 * rule requires them. USD values and earlier beneficiaries, which only the service knows, are not
 * in the evidence.
 * @param elsewhere approved only in the other log: a call that it has a key's proof of may be
 * repeated
 * @returns a sentence for each approval that the policy forbids, or that neither a key nor people
 * requested
 */
export function deniedApprovals(
  approvals: readonly DatedApproval[],
  authority: Authority,
  elsewhere: readonly Intent[] = [],
): string[] {
  const proven = new Set(elsewhere.filter(usesGrant).map((one) => placeName(one, payloadOf(one))))
  const replay = { authority, usages: new Map(), calls: new Map(), uses: new Map(), proven }
  const inOrder = [...approvals].sort((a, b) => a.atMs - b.atMs || a.intent.seq - b.intent.seq)
  return inOrder.flatMap((approval) => {
    const reason = reasonAgainst(approval, replay)
    return reason === null ? [] : [`approval ${approval.id.slice(0, 16)}: ${reason}`]
  })
}

const UNPROVEN = 'it has no proof of a key, and repeats no call with such a proof at its nonce'

function reasonAgainst(approval: DatedApproval, replay: Replay): string | null {
  const { intent, address, kind } = approval
  const payload = payloadOf(intent)
  const call = callName(intent, payload)
  const gasMax = replay.calls.get(call)
  try {
    if (gasMax !== undefined) {
      if (gasMax !== null) requireGas(payload, gasMax)
      return null
    }
    if (address !== null && isCancel(payload, address)) return null
    if (!usesGrant(intent)) {
      // It used no grant: a gas wallet's call, the end of a delegation, or a repeat of a proven
      // call.
      const isFree = kind !== 'user' || endsDelegation(intent, payload, null)
      return isFree || replay.proven.has(placeName(intent, payload)) ? null : UNPROVEN
    }
    replay.proven.add(placeName(intent, payload))
    replay.calls.set(call, intent.approval?.maxNativeWei ?? null)
    judgeAgain(approval, payload, replay)
    return null
  } catch (error) {
    if (error instanceof PolicyDenied) {
      const { rule, field } = error.denial
      return `the policy of its grant does not allow it: ${rule}, ${field}`
    }
    if (error instanceof Refusal)
      return `it is not proven that a person approved it: ${error.message}`
    throw error
  }
}

/** @throws PolicyDenied, Refusal */
function judgeAgain(approval: DatedApproval, payload: DecodedPayload, replay: Replay): void {
  const { intent, atMs } = approval
  const standing = standingIn(approval, payload, replay)
  const { authority, usages } = replay
  const policies = authority.policiesOf(intent.keyId, intent.grantId, intent.grantVersion)
  judgeByOneOf([policies], intent.grantId)
  for (const { grantId, policiesAt } of authority.ancestorsOf(intent.grantId)) {
    const inForce = policiesAt(atMs).map((policy) => (policy === null ? [] : [policy]))
    judgeByOneOf(inForce, grantId)
  }

  /** @throws PolicyDenied, Refusal by the last one when none allows it */
  function judgeByOneOf(each: readonly (readonly Policy[])[], grantId: Uint8Array): void {
    if (each.some((all) => all.length === 0)) return
    const grant = viewOf(grantId).toString('hex')
    const usage = usages.get(grant) ?? NO_POLICY_LEDGER
    let denied: unknown = null
    for (const all of each) {
      try {
        usages.set(grant, judgePolicies(all, payload, usage, atMs, standing) ?? usage)
        return
      } catch (error) {
        denied = error
      }
    }
    if (denied !== null) throw denied
  }
}

/** @throws Refusal when its approval was not registered, is another call's, or was used before */
function standingIn(
  { intent, atMs, ownerHash }: DatedApproval,
  payload: DecodedPayload,
  { authority, uses }: Replay,
): ApprovalStanding | null {
  const { approval } = intent
  if (approval === null || ownerHash === null) return null
  requireGas(payload, approval.maxNativeWei)
  requireOwnNonce(payload, approval.approvalId)
  const resting = { ...intent, approval }
  const term =
    payload.kind === 'authorization'
      ? authority
          .approvalTerms(approval.approvalId)
          .find((one) => isCovered(resting, payload, ownerHash, one))
      : encodeApprovalTerm(termOf(resting, payload, ownerHash))
  const standing = term === undefined ? null : authority.approvalAt(term, atMs)
  if (standing === null) throw new Refusal('APPROVAL_UNKNOWN', 'nobody was asked about this call')
  if (approval.expiresAtMs <= atMs) throw new Refusal('APPROVAL_EXPIRED', 'signed too late')
  const [id, place] = [viewOf(approval.approvalId).toString('hex'), placeOf(payload)]
  if (place === null) return standing
  if (!sameBytes(uses.get(id) ?? place, place)) {
    throw new Refusal('APPROVAL_USED', 'it was signed twice')
  }
  uses.set(id, place)
  return standing
}

/** Names a call; each authorization is judged separately. */
function callName(intent: Intent, payload: DecodedPayload): string {
  return payload.kind === 'transaction' ? placeName(intent, payload) : `${intent.seq}`
}

/** Returns the same name for the same call at the same nonce, whatever its fees. */
function placeName(intent: Intent, payload: DecodedPayload): string {
  // The Router's nonces are its own, and each intent has its own.
  if (payload.kind === 'router-intent') return `${intent.seq}`
  const { bodyHash } = entryOf(intent.keyProof, payload, intent.payload, null)
  const wallet = viewOf(intent.walletId).toString('hex')
  return `${wallet} ${payload.chainId} ${payload.nonce} ${viewOf(bodyHash).toString('hex')}`
}

function payloadOf({ type, payload }: Intent): DecodedPayload {
  return decodePayload(type, payload)
}
