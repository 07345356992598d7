import { readJournalFile } from '../../config/journal.js'
import { startHeartbeatThread } from '../../journal/heartbeat-thread.js'
import { openEngine } from '../../journal/open-engine.js'
import type { VaultMetrics } from '../metrics/vault-metrics.js'
import {
  openUserSideJournal,
  PARTITION,
  type StandbyProgress,
  type UserSideJournalOptions,
} from './open-journal.js'
import { positionIn } from './stores.js'
import type { UserSideJournal } from './writer.js'

interface BeginJournalOptions
  extends Omit<UserSideJournalOptions, 'heartbeats' | 'connect' | 'followed' | 'fatal' | 'timers'> {
  /** Null when this identity provider has no journal. */
  readonly file: string | null
  readonly metrics: Pick<VaultMetrics, 'watchJournal'>
  readonly log: UserSideJournalOptions['log'] & { fatal(context: object, message: string): void }
}

const LEFT_OUT =
  'The stores of this identity provider belong to a journal, but IDENTITY_JOURNAL_FILE is not set. Starting without it would let a standby run in parallel and miss decisions. Set it, or detach the stores permanently with `countersign cluster leave --domain user`.'

/** Keeps the process alive: a waiting standby has no other handle that would. */
const HELD_MS = 60_000

/**
 * Follows or acquires the journal of this home.
 * @returns the journal that this home leads; null when it has no journal
 * @throws Error when the home has a journal but none is configured, and as `openUserSideJournal`
 */
export async function beginJournal({
  file,
  metrics,
  ...options
}: BeginJournalOptions): Promise<UserSideJournal | null> {
  if (file === null) {
    if ((await positionIn(options.home)) !== null) throw new Error(LEFT_OUT)
    return null
  }
  let progress: StandbyProgress | null = null
  let journal: UserSideJournal | null = null
  metrics.watchJournal(() => ({
    epoch: journal?.readings.epoch ?? 0,
    waiting: journal?.readings.waiting ?? 0,
    behind: progress === null ? 0 : Math.max(0, progress.stored - progress.applied),
    isHindered: journal === null && (progress?.hindrance ?? null) !== null,
  }))
  const held = setInterval(() => undefined, HELD_MS)
  try {
    const followed = (next: StandbyProgress) => {
      progress = next
    }
    const { log } = options
    const settings = readJournalFile(file)
    const ended = (err: Error) => {
      log.fatal({ err }, 'no heartbeat can be sent: this identity provider stops')
      process.exit(1)
    }
    journal = await openUserSideJournal({
      ...{ ...options, followed },
      connect: () => openEngine(settings, log),
      heartbeats: startHeartbeatThread({ settings, partition: PARTITION, ended }),
      fatal(err) {
        log.fatal(
          { err },
          'the journal accepts no more entries from this identity provider: it stops',
        )
        process.exit(1)
      },
    })
    progress = null
    return journal
  } finally {
    clearInterval(held)
  }
}
