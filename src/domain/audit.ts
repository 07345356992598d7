import type { FreezeScope } from './freeze.js'
import type { AuditId, KeyId, SubWalletId, TxId, UserId } from './ids.js'
import type { PredictedOutcome } from './predicted-outcome.js'

/**
 * | type | written |
 * |---|---|
 * | wallet.created, key.* | with the change itself, in the same commit |
 * | grant.put | when the identity provider has accepted a key's grant |
 * | send.allowed | with the signed bytes: the clean verdict and the lists that it is based on |
 * | send.refused | soon after the answer; a crash may lose the last moments; nothing was signed |
 * | approval.* | with the change itself, in the same commit |
 * | member.* | when both sides have accepted the change; the evidence holds it with its proof |
 * | spend.unvalued | soon after a call was mined whose receipt shows something that could not be valued |
 * | breakers.set, webhook.*, address_rule.*, *.frozen, *.unfrozen | with the change itself, in the same commit |
 */
export type AuditType =
  | 'wallet.created'
  | 'key.created'
  | 'key.changed'
  | 'key.rotated'
  | 'key.rotated_out'
  | 'key.revoked'
  | 'grant.put'
  | 'send.allowed'
  | 'send.refused'
  | 'spend.unvalued'
  | 'webhook.created'
  | 'webhook.changed'
  | 'webhook.enabled'
  | 'webhook.disabled'
  | 'webhook.removed'
  | 'webhook.secret_rotated'
  | 'address_rule.set'
  | 'breakers.set'
  | 'address_rule.removed'
  | `${FreezeScope}.${'frozen' | 'unfrozen'}`
  | `member.${'invited' | 'joined' | 'role_changed' | 'removed'}`
  | `approval.${'requested' | 'asked_again' | 'decided' | 'declined' | 'expired' | 'withdrawn' | 'dropped'}`

/** One entry of a user's audit trail. Entries are appended and never changed. */
export interface AuditRecord {
  readonly auditId: AuditId
  readonly userId: UserId
  readonly atMs: number
  readonly type: AuditType
  readonly subWalletId: SubWalletId | null
  readonly keyId: KeyId | null
  /** The request that caused it; null for the service's own actions. */
  readonly requestId: string | null
  readonly txId: TxId | null
  /** Wire names (snake_case); never a secret, a signature or a URL's credentials. */
  readonly details: Readonly<Record<string, unknown>>
  /**
   * The lists that a verdict is based on, shown as `lists` of the details; null when nothing was
   * screened.
   */
  readonly lists: readonly AuditedList[] | null
  /**
   * The predicted outcome of a call that was simulated, or that was refused after its valuation;
   * null when its record shows the outcome completely.
   */
  readonly predicted: PredictedOutcome | null
}

/** An entry that gets its id when it is committed, unless it already has one. */
export type NewAuditRecord = Omit<AuditRecord, 'auditId'> & { readonly auditId: AuditId | null }

/** An edition of a list in the form that the trail shows; wire names. */
export interface AuditedList {
  readonly list: string
  readonly version: string
  /** RFC 3339. */
  readonly checked_at: string
}

/** The edition of a list that a verdict is based on. */
export interface ScreenedAgainst {
  readonly list: string
  readonly version: string
  /** When the list was last compared with its source. */
  readonly checkedAtMs: number
}
