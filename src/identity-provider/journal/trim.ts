import type { Timers } from '../../clock/timers.js'
import { userSideLayout } from '../../custody/domain-keys/layout.js'
import { openLmdb } from '../../disk/lmdb-file.js'
import type { Journal } from '../../journal/journal.js'
import type { UserSideJournal } from './writer.js'

/**
 * Entries are kept for a week. A home that was away longer must be made again from the leader's.
 * The stores hold the full state, so older entries are not needed.
 */
const KEPT_MS = 7 * 24 * 3_600_000
const MARK_EVERY_MS = 3_600_000

interface TrimOptions {
  readonly home: string
  readonly journal: Pick<Journal, 'trim'>
  readonly partition: number
  /** The journal's id, so that hours of another journal do not count. */
  readonly id: string
  /** The last entry that all stores of this home have. */
  readonly needed: () => number
  readonly writer: Pick<UserSideJournal, 'readings'>
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { warn(context: object, message: string): void }
}

interface Hour {
  readonly journal: string
  readonly seq: number
}

/**
 * Records every hour the journal's last entry, in `96-journal-hours` beside the ledger's databases
 * (time → journal, entry), and trims entries older than a week, except those that this home may
 * need.
 */
export function keepTrimmed(options: TrimOptions) {
  const { home, journal, partition, id, needed, writer, timers, log } = options
  const root = openLmdb({
    ...{ path: userSideLayout(home).ledger, overlappingSync: false, maxDbs: 32 },
  })
  const hours = root.openDB<Hour, number>({ name: '96-journal-hours' })
  let alarm: ReturnType<Timers['at']> | null = null

  async function trim(): Promise<void> {
    const now = timers.now()
    await hours.put(now, { journal: id, seq: writer.readings.stored })
    const old = [...hours.getRange({ end: now - KEPT_MS })]
    const last = old.findLast(({ value }) => value.journal === id)
    // The last entry of a home identifies its journal, so it is kept.
    if (last !== undefined) await journal.trim(partition, Math.min(last.value.seq, needed()))
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
