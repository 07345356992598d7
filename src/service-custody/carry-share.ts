import type { ShareStore } from '../custody/domain-keys/share-store.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { QuorumLink } from './quorum-link.js'

interface CarryContext {
  readonly shares: Pick<ShareStore, 'carry'>
  readonly link: Pick<QuorumLink, 'userSide'>
}

/**
 * Resolves once a copy of the wallet's share exists outside this machine. When the local share and
 * the journal's differ, because an operator restored one, the share that belongs to the identity
 * provider's share wins.
 * @throws Refusal CONFLICT when neither belongs to it
 */
export async function carryShare(walletId: Uint8Array, context: CarryContext): Promise<void> {
  const { shares, link } = context
  if (await shares.carry(walletId)) return
  const certified = await askUserSide(link.userSide, 'keygen-status', { walletId })
  if (certified !== null && (await shares.carry(walletId, certified.certificate))) return
  throw new Refusal(
    'CONFLICT',
    `wallet ${Buffer.from(walletId).toString('hex')}: neither the share here nor the one in the journal belongs to the user side's`,
  )
}
