import { ALL_PARTITIONS, type Cell, hasPartition, hasUser } from '../../domain/cells.js'
import { cellOfGasWalletKey } from '../../domain/gas-wallets.js'
import type { UserId } from '../../domain/ids.js'
import { isZero, sameBytes } from '../../quorum-protocol/bytes.js'
import type { Intent } from '../../quorum-protocol/intent.js'
import type { WalletKind } from '../../quorum-protocol/keygen.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Grants } from './grants.js'

/**
 * Limits a service of some users to requests about those users and its own cell's wallets. A
 * service of all users may request everything, regardless of its wallets' ids.
 */

/** @throws Refusal NOT_GRANTED */
export function requireUserOf(cell: Cell, userId: string): void {
  if (!hasUser(cell, userId as UserId)) throw ofAnotherCell('user')
}

/**
 * A user's wallet id does not name its owner. Nothing is signed with it before it has a grant, and
 * its key does not change without the share of its own service.
 * @throws Refusal NOT_GRANTED
 */
export function requireWalletOf(cell: Cell, walletId: Uint8Array, kind: WalletKind): void {
  if (kind !== 'service' || hasAll(cell)) return
  if (cellOfGasWalletKey(walletId) !== cell.number) throw ofAnotherCell('gas wallet')
}

/**
 * Runs for each signature, so it only looks up and never hashes. A user's wallet is identified by
 * the requesting key, even if that has ended, as for replacements. Without a key only a delegation
 * can be ended: that takes away, and cannot be signed without the share of the wallet's own
 * service.
 * @throws Refusal NOT_GRANTED, or UNKNOWN_KEY when the owner cannot be determined
 */
export function requireIntentOf(
  cell: Cell,
  { keyId, walletId }: Pick<Intent, 'keyId' | 'walletId'>,
  payload: DecodedPayload,
  kind: WalletKind,
  grants: Pick<Grants, 'view'>,
): void {
  if (hasAll(cell)) return
  if (kind === 'service') {
    requireWalletOf(cell, walletId, kind)
    return
  }
  const view = grants.view(keyId)
  if (view === null) {
    if (isZero(keyId) && payload.kind === 'authorization' && isZero(payload.delegate)) return
    throw new Refusal('UNKNOWN_KEY', 'no grant for this key')
  }
  if (!sameBytes(view.grant.walletId, walletId)) {
    throw new Refusal('NOT_GRANTED', 'key of another wallet')
  }
  if (!hasPartition(cell, view.partition)) throw ofAnotherCell('user')
}

function hasAll({ partitions }: Cell): boolean {
  return partitions === ALL_PARTITIONS
}

function ofAnotherCell(what: string): Refusal {
  return new Refusal('NOT_GRANTED', `${what} of another cell`)
}
