import { JournalOvertaken, JournalUnavailable } from '../journal/journal.js'
import { type FollowLeaderOptions, followUntilLeaderIsGone } from './follow-leader.js'
import type { JournalWriter } from './journal-writer.js'
import {
  type JournaledStoreOptions,
  JournalHasSuccessor,
  openJournaledStore,
} from './journaled-store.js'

/**
 * Follows a journal until its leader is gone, and then acquires it. If another node acquires it
 * first, or the leader still lives, it continues to follow. The same holds for a leader whose
 * journal can be read but not written: it is silent for that reason, and is back when the journal
 * is.
 * @throws Error as `followUntilLeaderIsGone`, and as `openJournaledStore` once the journal is
 * acquired
 */
export async function standBy(
  options: Omit<JournaledStoreOptions, 'overtakes' | 'isStandby'>,
  followed: FollowLeaderOptions['followed'],
  watching: Pick<FollowLeaderOptions, 'hindrance' | 'writesStop' | 'storedAfter'> = {},
): Promise<JournalWriter> {
  const { log } = options
  let isAcquired = false
  const acquired: JournaledStoreOptions['acquired'] = (its) => {
    isAcquired = true
    options.acquired?.(its)
  }
  for (;;) {
    const overtakes = await followUntilLeaderIsGone({
      ...{ ...options, ...watching, followed },
    })
    log.warn({ epoch: overtakes }, 'the leader of the journal is gone; this standby takes over')
    try {
      // It tries only once, because the leader that it would depose may be back by a second
      // attempt.
      return await openJournaledStore({
        ...options,
        ...{ acquired, overtakes, isStandby: true, triesMax: 1 },
      })
    } catch (err) {
      const isOthers = err instanceof JournalOvertaken || err instanceof JournalHasSuccessor
      if (!isOthers && (isAcquired || !(err instanceof JournalUnavailable))) throw err
      log.warn({ err }, 'the journal was not acquired; this standby follows its leader again')
    }
  }
}
