import type { KeyPatch } from './api-key.js'
import type { KeyId, LineageId } from './ids.js'

/**
 * A key's grant of which the identity provider has not acknowledged what the service decided. As
 * long as one is stored, the service tells the identity provider what the key may do now.
 */
export interface GrantChange {
  readonly keyId: KeyId
  readonly lineageId: LineageId
  /** The lineage of the key that made it; absent: the user did. */
  readonly parentLineageId?: LineageId
  /** Counts up with each change; an acknowledgement of an older one settles nothing. */
  readonly version: number
  /** Of a successor that is being made: the key that it takes the place of. */
  readonly rotatedFrom: KeyId | null
  /**
   * An enlargement that the identity provider may have taken and the service did not. It may take
   * things away besides: until it is known what became of it, neither side's word holds for those.
   */
  readonly asked: KeyPatch | null
}

/** Whether the identity provider has acknowledged what the key may do. */
export type CustodyStatus = 'current' | 'pending'
