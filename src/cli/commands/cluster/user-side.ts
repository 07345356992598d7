import { lockStopped } from '../../../custody/home-lock/domain-lock.js'
import { holding } from '../../../custody/home-lock/kernel-lock.js'
import { bringCarriedFreeze } from '../../../identity-provider/journal/carry-freeze.js'
import { leaveJournal, positionIn } from '../../../identity-provider/journal/stores.js'
import type { JournalHead } from '../../../journal/journal.js'
import type { Io } from '../../io.js'

/** Describes an identity provider's home. @param head its journal's; null when that does not answer */
export async function userSideStatus(home: string, head: JournalHead | null) {
  const own = await positionIn(home)
  return {
    epoch: head?.epoch ?? null,
    owner: head?.owner?.node ?? null,
    entries: head?.seq ?? null,
    first_entry: head?.first ?? null,
    // The leader's stores are complete, but record their position only from time to time.
    store_entry: own?.seq ?? null,
    store_epoch: own?.epoch ?? null,
    taken_over: head === null ? null : isTakenFrom(own, head),
  }
}

/** Tells whether another node has led since this home. @param own the home's position; null without one */
export function isTakenFrom(
  own: { readonly epoch: number; readonly claim: string } | null,
  { epoch, owner }: JournalHead,
): boolean {
  return own !== null && own.epoch < epoch && own.claim !== owner?.claim
}

export function leaveUserSide(home: string, io: Pick<Io, 'err'>): Promise<void> {
  return holding(
    () => lockStopped(home, 'user', 'cluster leave'),
    async () => {
      await bringCarriedFreeze(home, { warn: (_context, message) => io.err(`${message}\n`) })
      await leaveJournal(home)
    },
  )
}
