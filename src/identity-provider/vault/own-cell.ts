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
 * What a service of some users may ask for: what concerns those, and the wallets of its own cell. One of
 * all users may ask for everything, whatever its wallets are called.
 */

/** @throws Refusal NOT_GRANTED */
export function requireUserOf(cell: Cell, userId: string): void {
  if (!hasUser(cell, userId as UserId)) throw ofAnotherCell('user')
}

/**
 * A user's wallet says by no name whose it is: nothing is signed with it before it has a grant, nor is its
 * key changed without the share that its own service has.
 * @throws Refusal NOT_GRANTED
 */
export function requireWalletOf(cell: Cell, walletId: Uint8Array, kind: WalletKind): void {
  if (kind !== 'service' || hasAll(cell)) return
  if (cellOfGasWalletKey(walletId) !== cell.number) throw ofAnotherCell('gas wallet')
}

/**
 * For each signature: what it names is looked up, and nothing hashed. A user's wallet is known by the key
 * that asks for it, be that ended, as for what replaces a call. Without one only a delegation is ended,
 * which takes away, and which nobody can sign without the share that the wallet's own service has.
 * @throws Refusal NOT_GRANTED, or UNKNOWN_KEY of what could be anybody's
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
