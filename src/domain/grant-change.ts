import type { KeyPatch } from './api-key.js'
import type { KeyId, LineageId } from './ids.js'

/**
 * A change of a key's grant that the identity provider has not acknowledged. While one is stored,
 * the service notifies the identity provider of what the key may do now.
 */
export interface GrantChange {
  readonly keyId: KeyId
  readonly lineageId: LineageId
  /** The lineage of the key that made it; absent when the user did. */
  readonly parentLineageId?: LineageId
  /** Counts up with each change; an acknowledgement of an older version settles nothing. */
  readonly version: number
  /** Set for a successor that is being made: the key that it replaces. */
  readonly rotatedFrom: KeyId | null
  /**
   * An enlargement that the identity provider may have accepted and the service did not commit. It
   * may also restrict: until its outcome is known, neither side's state holds for those
   * restrictions.
   */
  readonly asked: KeyPatch | null
}

/** Whether the identity provider has acknowledged what the key may do. */
export type CustodyStatus = 'current' | 'pending'
