import type { ShareStore } from '../custody/domain-keys/share-store.js'
import { expectBytes, expectList } from '../quorum-protocol/bytes.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { QuorumLink } from './quorum-link.js'

export interface CarryContext {
  readonly shares: Pick<ShareStore, 'carry'>
  readonly link: Pick<QuorumLink, 'userSide'>
}

/**
 * Resolves once what is here of the wallet is where it outlives this machine. Which of two shares counts,
 * where one was put back by an operator, the user side says: the one that belongs to its own.
 * @throws Refusal CONFLICT where neither does
 */
export async function carryShare(walletId: Uint8Array, context: CarryContext): Promise<void> {
  const { shares, link } = context
  if (await shares.carry(walletId)) return
  const answer = await link.userSide.call('keygen-status', [walletId])
  const certified = answer === null ? null : expectBytes(expectList(answer, 4)[0])
  if (certified !== null && (await shares.carry(walletId, certified))) return
  throw new Refusal(
    'CONFLICT',
    `wallet ${Buffer.from(walletId).toString('hex')}: neither the share here nor the one in the journal belongs to the user side's`,
  )
}
