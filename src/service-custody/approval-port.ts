import { approvalKeyProof, termOfCall } from '../custody/approvals/approval-term.js'
import type { AskedAgain, AskedCall } from '../domain/approval.js'
import type { ApprovalId, Hex } from '../domain/ids.js'
import type { UnapprovedEnd } from '../domain/transaction.js'
import type {
  ApprovalDecisions,
  ApprovalGiven,
  ApprovalUpdate,
  CallNames,
} from './approval-messages.js'
import type { CoSigner } from './co-signer.js'

/**
 * Tells the identity provider about calls that wait for an approval, and fetches people's
 * decisions.
 */
export interface ApprovalPort {
  /** Proves that the live API key requested the call. The 32 bytes prove nothing else. */
  proveKey(asked: AskedCall, proofKey: Uint8Array): Hex
  /**
   * Resolves once the identity provider has stored it durably. Repeating it does no harm. With more
   * gas or another expiry, people are asked again and earlier approvals are void.
   * @throws FaultError COSIGNER_UNAVAILABLE; OVERLOADED; PERMISSION_DENIED when it refuses
   */
  register(asked: AskedCall, said: SaidOfCall): Promise<void>
  /**
   * Has both domains verify and keep a proof over the call in its present form.
   * @throws FaultError AUTHORIZATION_REQUIRED with what to sign; AUTHORIZATION_REFUSED;
   * COSIGNER_UNAVAILABLE
   */
  approve(asked: AskedCall, given: Given): Promise<ApprovalGiven>
  /**
   * Returns one page of the decisions that people made at the identity provider's page, oldest
   * first.
   * @param after the cursor of the previous answer; null starts with the oldest decision kept
   */
  decisions(after: string | null): Promise<ApprovalDecisions>
  /** Tells the identity provider that the call no longer needs a decision. */
  end(approvalId: ApprovalId, as: UnapprovedEnd | 'dropped'): Promise<void>
  /** Returns the page on which people decide; null when there is no such page. */
  pageOf(approvalId: ApprovalId): string | null
}

export type Confirmed = Pick<ApprovalUpdate, 'consoleToken' | 'authorization'>
type Given = Confirmed & Pick<ApprovalUpdate, 'earlier'>

/** Describes the call to the identity provider, which cannot derive these fields itself. */
interface SaidOfCall {
  /** How many distinct people must approve; 0 when the call only waits for its delay. */
  readonly needed: number
  /** The delay starts when the identity provider registers the call, by its clock. */
  readonly delaySeconds: number
  readonly rule: string
  /** A decimal amount in USD. */
  readonly spendUsd: string
  /** The user's label for the beneficiary; null when absent. */
  readonly payeeLabel: string | null
  /** Why people are asked again; null when this is the first time. */
  readonly askedAgain: AskedAgain | null
  readonly names: CallNames | null
  /** The result of `proveKey`. */
  readonly keyProof: Hex
}

type RemoteCoSigner = Pick<
  CoSigner,
  'registerApproval' | 'approve' | 'approvalDecisions' | 'endApproval'
> &
  Pick<ApprovalPort, 'pageOf'>

export function createApprovalPort(coSigner: RemoteCoSigner): ApprovalPort {
  return {
    proveKey(asked, proofKey) {
      const { term, call } = termOfCall(asked)
      return `0x${approvalKeyProof(proofKey, term, call).toString('hex')}`
    },
    register(asked, { keyProof, ...said }) {
      return coSigner.registerApproval({
        ...said,
        ...termOfCall(asked),
        userId: asked.userId,
        keyProof: Buffer.from(keyProof.slice(2), 'hex'),
      })
    },
    approve(asked, given) {
      const { term } = termOfCall(asked)
      return coSigner.approve({ ...given, term, userId: asked.userId })
    },
    decisions: (after) => coSigner.approvalDecisions(after),
    end: (approvalId, as) => coSigner.endApproval({ approvalId, as }),
    pageOf: (approvalId) => coSigner.pageOf(approvalId),
  }
}
