import { judgePolicies, PolicyDenied } from '../../identity-provider/vault/judge-policy.js'
import { entryOf, isCancel } from '../../identity-provider/vault/nonce-ledger.js'
import { NO_POLICY_LEDGER, type PolicyLedger } from '../../policy/policy-ledger.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { type Intent, isAbsent } from '../../quorum-protocol/intent.js'
import { type DecodedPayload, decodePayload } from '../../quorum-protocol/payload.js'
import type { AuthorityReport } from './verify-authority.js'

/** An intent that the user side approved. */
export interface DatedApproval {
  readonly id: string
  readonly atMs: number
  readonly intent: Intent
  /** 20 bytes; null without a certificate of its wallet. */
  readonly address: Uint8Array | null
}

/**
 * Judges once more what was approved, by the policy that its version of the grant had and with what
 * the log has before it: operation, callee, arguments, amounts, hours, counts and ceilings. What
 * only the service knows, USD and payees of before, is not in the evidence.
 * @returns one sentence for each approval that the policy does not allow
 */
export function deniedApprovals(
  approvals: readonly DatedApproval[],
  authority: Pick<AuthorityReport, 'policiesOf'>,
): string[] {
  const problems: string[] = []
  const usages = new Map<string, PolicyLedger>()
  const calls = new Set<string>()
  const inOrder = [...approvals].sort((a, b) => a.atMs - b.atMs || a.intent.seq - b.intent.seq)
  for (const { id, atMs, intent, address } of inOrder) {
    // No grant was used: a repeat, a fee bump, a cancel, or a gas wallet's.
    if (isAbsent(intent.keyProof)) continue
    const policies = authority.policiesOf(intent.keyId, intent.grantId, intent.grantVersion)
    if (policies.length === 0) continue
    const payload = decodePayload(intent.type, intent.payload)
    if (address !== null && isCancel(payload, address)) continue
    const call = callName(intent, payload)
    if (calls.has(call)) continue
    calls.add(call)
    const grant = viewOf(intent.grantId).toString('hex')
    try {
      const usage = usages.get(grant) ?? NO_POLICY_LEDGER
      usages.set(grant, judgePolicies(policies, payload, usage, atMs) ?? usage)
    } catch (error) {
      if (!(error instanceof PolicyDenied)) throw error
      const { rule, field } = error.denial
      problems.push(
        `approval ${id.slice(0, 16)}: the policy of its grant does not allow it: ${rule}, ${field}`,
      )
    }
  }
  return problems
}

/** The same for the same call at the same nonce, whatever its fees. */
function callName(intent: Intent, payload: DecodedPayload): string {
  if (payload.kind !== 'transaction') return `${intent.seq}`
  const { bodyHash } = entryOf(intent.keyProof, payload, intent.payload)
  const wallet = viewOf(intent.walletId).toString('hex')
  return `${wallet} ${payload.chainId} ${payload.nonce} ${viewOf(bodyHash).toString('hex')}`
}
