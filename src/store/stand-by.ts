import { JournalOvertaken, JournalUnavailable } from '../journal/journal.js'
import { type FollowOwnerOptions, followUntilOwnerIsGone } from './follow-owner.js'
import type { JournalWriter } from './journal-writer.js'
import {
  type JournaledStoreOptions,
  JournalHasSuccessor,
  openJournaledStore,
} from './journaled-store.js'

/**
 * Follows a journal until its owner is gone, and takes it over then. Who is there before this one, or
 * lives after all, is followed on; so is one whose journal can be read but not written: it is silent
 * for that reason, and is back when the journal is.
 * @throws Error as `followUntilOwnerIsGone`, and as `openJournaledStore` once the journal is taken
 */
export async function standBy(
  options: Omit<JournaledStoreOptions, 'overtakes' | 'isStandby'>,
  followed: FollowOwnerOptions['followed'],
  watching: Pick<FollowOwnerOptions, 'hindrance' | 'writesStop' | 'storedAfter'> = {},
): Promise<JournalWriter> {
  const { log } = options
  let isTaken = false
  const taken: JournaledStoreOptions['taken'] = (its) => {
    isTaken = true
    options.taken?.(its)
  }
  for (;;) {
    const overtakes = await followUntilOwnerIsGone({
      ...{ ...options, ...watching, followed },
    })
    log.warn({ epoch: overtakes }, 'the owner of the journal is gone: it is taken over')
    try {
      // Asked once: the owner that it would end may be back when it asks again.
      return await openJournaledStore({
        ...options,
        ...{ taken, overtakes, isStandby: true, triesMax: 1 },
      })
    } catch (err) {
      const isOthers = err instanceof JournalOvertaken || err instanceof JournalHasSuccessor
      if (!isOthers && (isTaken || !(err instanceof JournalUnavailable))) throw err
      log.warn({ err }, 'the journal was not taken over: its owner is looked for again')
    }
  }
}
