import type { Call } from '../domain/call.js'
import type { ApprovalId, Hex, KeyId, SubWalletId } from '../domain/ids.js'
import type { UnapprovedEnd } from '../domain/transaction.js'

/** Where the user side is told of calls that wait, so that people see there what it decoded. */
export interface ApprovalPort {
  /** That the live API key asked for the call: 32 bytes that are good for nothing else. */
  proveKey(asked: AskedCall, call: Call, proofKey: Uint8Array): Hex
  /**
   * Durable there when it resolves. Repeating it does no harm; with more gas or another expiry it is
   * asked anew, and what was approved before is void.
   * @throws FaultError COSIGNER_UNAVAILABLE; OVERLOADED; PERMISSION_DENIED when it refuses
   */
  register(asked: AskedCall, call: Call, said: SaidOfCall): Promise<void>
  /** Nobody need decide about it any more. */
  end(approvalId: ApprovalId, as: UnapprovedEnd | 'dropped'): Promise<void>
  /** On which people decide; null where there is none. */
  pageOf(approvalId: ApprovalId): string | null
}

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
