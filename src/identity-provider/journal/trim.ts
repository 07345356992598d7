import type { Timers } from '../../clock/timers.js'
import { userSideLayout } from '../../custody/domain-keys/layout.js'
import { openLmdb } from '../../disk/lmdb-file.js'
import type { Journal } from '../../journal/journal.js'
import type { UserSideJournal } from './writer.js'

/**
 * Entries are kept for a week: a home that was away for longer is made anew out of the owner's. The stores
 * are what they rest on, and nothing else is needed to go on.
 */
const KEPT_MS = 7 * 24 * 3_600_000
const MARK_EVERY_MS = 3_600_000

export interface TrimOptions {
  readonly home: string
  readonly journal: Pick<Journal, 'trim'>
  readonly partition: number
  readonly writer: Pick<UserSideJournal, 'readings'>
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { warn(context: object, message: string): void }
}

/**
 * Notes each hour how far the journal is, in `96-journal-hours` beside the ledger's databases (time → last
 * entry), and forgets what is older than a week.
 */
export function keepTrimmed({ home, journal, partition, writer, timers, log }: TrimOptions) {
  const root = openLmdb({
    ...{ path: userSideLayout(home).ledger, overlappingSync: false, maxDbs: 32 },
  })
  const hours = root.openDB<number, number>({ name: '96-journal-hours' })
  let alarm: ReturnType<Timers['at']> | null = null

  async function trim(): Promise<void> {
    const now = timers.now()
    await hours.put(now, writer.readings.stored)
    const old = [...hours.getRange({ end: now - KEPT_MS })]
    const last = old.at(-1)
    if (last === undefined) return
    // One more than what was stored by then: the last of those is what a home that is there yet names.
    await journal.trim(partition, last.value)
    await root.transaction(() => {
      for (const { key } of old) void hours.remove(key)
    })
  }

  function again(): void {
    trim()
      .catch((err: unknown) => log.warn({ err }, 'old entries of the journal were not trimmed'))
      .finally(() => {
        alarm = timers.at(timers.now() + MARK_EVERY_MS, again)
      })
  }
  alarm = timers.at(timers.now() + MARK_EVERY_MS, again)
  return {
    async close(): Promise<void> {
      alarm?.cancel()
      await root.close()
    },
  }
}
