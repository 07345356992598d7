import { enlargements } from '../../domain/grant-terms.js'
import { SUB_KEY_DEPTH_MAX } from '../../domain/sub-key.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import type { GrantRequest } from '../../quorum-protocol/methods/grants.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { type Ancestor, beyond, endOf, hasEnded } from './ancestors.js'
import { type Grant, type GrantView, termsIn } from './granted.js'
import type { LedgerStore } from './ledger-store.js'

/** A key's grant, and those above it. */
export interface PathView extends GrantView {
  /** The grants above, nearest first; empty for a key that its user made. */
  readonly ancestors: readonly Ancestor[]
  /** The partition of the grant's user, kept so that each signature need not hash the user's id. */
  readonly partition: number
}

/**
 * Checks that a key may make another one.
 * @throws Refusal
 */
export function checkSubKey(
  request: GrantRequest,
  maker: PathView,
  ledger: LedgerStore,
  nowMs: number,
): void {
  const { key, grant } = maker
  const { expiresAtMs } = key
  if (key.revoked || (expiresAtMs !== null && expiresAtMs <= nowMs)) {
    throw new Refusal('NOT_GRANTED', 'its maker has ended')
  }
  if (request.parentId === null || !sameBytes(key.grantId, request.parentId)) {
    throw new Refusal('NOT_GRANTED', 'a parent that did not make it')
  }
  if (!isSameOwner(request, grant)) throw new Refusal('NOT_GRANTED', 'maker of another wallet')
  const terms = termsIn(maker)
  const parent = { grantId: key.grantId, grant, endsAtMs: endOf(ledger, grant) }
  // A lineage without a list of its keys lives as long as the requesting key.
  const above = [...(grant.liveKeys.length === 0 ? [] : [parent]), ...maker.ancestors]
  if (above.some((one) => hasEnded(one, nowMs))) {
    throw new Refusal('NOT_GRANTED', 'a key above it has ended')
  }
  const mayMake = [terms, grant, ...maker.ancestors.map((one) => one.grant)].every(
    ({ permission, mayDelegate }) => permission === 'trade' && mayDelegate,
  )
  if (!mayMake) throw new Refusal('NOT_GRANTED', 'its maker makes no keys')
  if (maker.ancestors.length >= SUB_KEY_DEPTH_MAX) throw new Refusal('NOT_GRANTED', 'too deep')
  if (enlargements(terms, request).length > 0 || beyond(above, request).length > 0) {
    throw new Refusal('NOT_GRANTED', 'more than the key that made it has')
  }
}

export function isSameOwner(request: GrantRequest, grant: Grant): boolean {
  return grant.userId === request.userId && sameBytes(grant.walletId, request.walletId)
}
