import type { Approval } from '../../domain/approval.js'
import type { ApprovalId, SubWalletId, UserId } from '../../domain/ids.js'
import type { Environment } from '../environment.js'
import { LAST, type Page, type PageOptions, pageIn } from '../pages.js'

export interface ApprovalReader {
  byId(user: UserId, id: ApprovalId): Approval | undefined
  /** Newest first; pages as `TransactionReader.ofUser` does. */
  ofUser(
    user: UserId,
    options: PageOptions,
    wanted: (approval: Approval) => boolean,
  ): Page<Approval>
  /** Approvals of calls that wait, oldest first. */
  waitingOf(wallet: SubWalletId, user: UserId): Generator<Approval>
  /** The number of calls that wait in all of a user's wallets. */
  waitingOfUser(user: UserId): number
  /** The wallets in which calls wait; used at a start. */
  walletsWithWaiting(): Generator<SubWalletId>
}

export function createApprovalReader({
  spaces,
}: Pick<Environment, 'spaces' | 'noteDamage'>): ApprovalReader {
  const byId = (user: UserId, id: ApprovalId) =>
    spaces.approvals.get([user, id]) as Approval | undefined
  return {
    byId,
    ofUser: (user, options, wanted) =>
      pageIn(spaces, 'approvals', user, options, (id) => {
        const approval = byId(user, id as ApprovalId)
        return approval !== undefined && wanted(approval) ? approval : undefined
      }),
    *waitingOf(wallet, user) {
      for (const key of spaces.waitingCalls.getKeys({ start: [wallet, ''], end: [wallet, LAST] })) {
        const approval = byId(user, (key as unknown as [string, ApprovalId])[1])
        if (approval !== undefined) yield approval
      }
    },
    waitingOfUser(user) {
      let count = 0
      for (const key of spaces.walletsByUser.getKeys({ start: [user, ''], end: [user, LAST] })) {
        const [, wallet] = key as unknown as [UserId, SubWalletId]
        count += spaces.waitingCalls.getKeysCount({ start: [wallet, ''], end: [wallet, LAST] })
      }
      return count
    },
    *walletsWithWaiting() {
      let last: string | null = null
      for (const key of spaces.waitingCalls.getKeys({})) {
        const [wallet] = key as unknown as [SubWalletId, ApprovalId]
        if (wallet === last) continue
        last = wallet
        yield wallet
      }
    },
  }
}
