import { approvalKeyProof, termOfCall } from '../custody/approvals/approval-term.js'
import type { AskedAgain, AskedCall } from '../domain/approval.js'
import type { ApprovalId, Hex } from '../domain/ids.js'
import type { UnapprovedEnd } from '../domain/transaction.js'
import type { ApprovalDecisions, ApprovalGiven, ApprovalUpdate, CoSigner } from './co-signer.js'

/** Where the user side is told of calls that wait, and people's decisions come from. */
export interface ApprovalPort {
  /** That the live API key asked for the call: 32 bytes that are good for nothing else. */
  proveKey(asked: AskedCall, proofKey: Uint8Array): Hex
  /**
   * Durable there when it resolves. Repeating it does no harm; with more gas or another expiry it is
   * asked anew, and what was approved before is void.
   * @throws FaultError COSIGNER_UNAVAILABLE; OVERLOADED; PERMISSION_DENIED when it refuses
   */
  register(asked: AskedCall, said: SaidOfCall): Promise<void>
  /**
   * Has a proof over the call as it is asked about now verified and kept by both domains.
   * @throws FaultError AUTHORIZATION_REQUIRED with what to sign; AUTHORIZATION_REFUSED;
   * COSIGNER_UNAVAILABLE
   */
  approve(asked: AskedCall, given: Given): Promise<ApprovalGiven>
  /**
   * What people decided at the user side's own page, oldest first; some at a time.
   * @param after a cursor of before; null: from the first that is kept
   */
  decisions(after: string | null): Promise<ApprovalDecisions>
  /** Nobody need decide about it any more. */
  end(approvalId: ApprovalId, as: UnapprovedEnd | 'dropped'): Promise<void>
  /** On which people decide; null where there is none. */
  pageOf(approvalId: ApprovalId): string | null
}

export type Confirmed = Pick<ApprovalUpdate, 'consoleToken' | 'authorization'>
type Given = Confirmed & Pick<ApprovalUpdate, 'earlier'>

/** What the user side cannot know by itself. */
export interface SaidOfCall {
  /** Distinct people; 0 where it only waits for its time. */
  readonly needed: number
  /** By the user side's clock, from when it was told on. */
  readonly delaySeconds: number
  readonly rule: string
  /** Decimal. */
  readonly spendUsd: string
  /** What the user calls whom it pays; null: nothing. */
  readonly payeeLabel: string | null
  /** Why people are asked once more; null: they are not. */
  readonly askedAgain: AskedAgain | null
  /** Of `proveKey`. */
  readonly keyProof: Hex
}

type Elsewhere = Pick<
  CoSigner,
  'registerApproval' | 'approve' | 'approvalDecisions' | 'endApproval'
> &
  Pick<ApprovalPort, 'pageOf'>

export function createApprovalPort(coSigner: Elsewhere): ApprovalPort {
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
