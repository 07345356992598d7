import { approvalKeyProof, callTerm } from '../custody/approvals/approval-term.js'
import type { Call } from '../domain/call.js'
import type { ApprovalId, Hex, KeyId, SubWalletId } from '../domain/ids.js'
import type { UnapprovedEnd } from '../domain/transaction.js'
import type { ApprovalDecisions, ApprovalGiven, ApprovalUpdate, CoSigner } from './co-signer.js'

/** Where the user side is told of calls that wait, and people's decisions come from. */
export interface ApprovalPort {
  /** That the live API key asked for the call: 32 bytes that are good for nothing else. */
  proveKey(asked: AskedCall, call: Call, proofKey: Uint8Array): Hex
  /**
   * Durable there when it resolves. Repeating it does no harm; with more gas or another expiry it is
   * asked anew, and what was approved before is void.
   * @throws FaultError COSIGNER_UNAVAILABLE; OVERLOADED; PERMISSION_DENIED when it refuses
   */
  register(asked: AskedCall, call: Call, said: SaidOfCall): Promise<void>
  /**
   * Has a proof over the call as it is asked about now verified and kept by both domains.
   * @throws FaultError AUTHORIZATION_REQUIRED with what to sign; AUTHORIZATION_REFUSED;
   * COSIGNER_UNAVAILABLE
   */
  approve(asked: AskedCall, call: Call, confirmed: Confirmed): Promise<ApprovalGiven>
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

export interface AskedCall {
  readonly approvalId: ApprovalId
  readonly walletId: SubWalletId
  readonly keyId: KeyId
  readonly userId: string
  /** Gas limit × maximum fee at the most, wei. */
  readonly maxNativeWei: bigint
  readonly expiresAtMs: number
}

/** What the user side cannot know by itself. */
export interface SaidOfCall {
  /** Distinct people; 0 where it only waits for its time. */
  readonly needed: number
  /** By the user side's clock, from when it was told on. */
  readonly delaySeconds: number
  readonly rule: string
  /** Decimal. */
  readonly spendUsd: string
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
    proveKey(asked, call, proofKey) {
      const proof = approvalKeyProof(proofKey, callTerm(asked, call))
      return `0x${Buffer.from(proof).toString('hex')}`
    },
    register(asked, call, { keyProof, ...said }) {
      return coSigner.registerApproval({
        ...said,
        term: callTerm(asked, call),
        userId: asked.userId,
        data: call.data,
        keyProof: Buffer.from(keyProof.slice(2), 'hex'),
      })
    },
    approve: (asked, call, confirmed) =>
      coSigner.approve({ ...confirmed, term: callTerm(asked, call), userId: asked.userId }),
    decisions: (after) => coSigner.approvalDecisions(after),
    end: (approvalId, as) => coSigner.endApproval({ approvalId, as }),
    pageOf: (approvalId) => coSigner.pageOf(approvalId),
  }
}
