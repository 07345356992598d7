import { readJournalFile } from '../../config/journal.js'
import { openEngine } from '../../journal/open-engine.js'
import type { VaultMetrics } from '../metrics/vault-metrics.js'
import {
  openUserSideJournal,
  type StandbyProgress,
  type UserSideJournalOptions,
} from './open-journal.js'
import { positionIn } from './stores.js'
import type { UserSideJournal } from './writer.js'

export interface BeginJournalOptions
  extends Omit<UserSideJournalOptions, 'connect' | 'followed' | 'fatal' | 'timers'> {
  /** Null: this identity provider has no journal. */
  readonly file: string | null
  readonly metrics: Pick<VaultMetrics, 'watchJournal'>
  readonly log: UserSideJournalOptions['log'] & { fatal(context: object, message: string): void }
}

const LEFT_OUT =
  'the stores of this identity provider have a journal, and IDENTITY_JOURNAL_FILE names none: what it decided without it a standby would not know of, and would go on beside it. Set the variable, or say `countersign cluster leave --domain user`, which lets it go on alone for good'

/** While a standby waits, it has nothing that would hold the process. */
const HELD_MS = 60_000

/**
 * @returns the journal that this home owns by then; null: there is none
 * @throws Error for a home that has one and is told of none, and as `openUserSideJournal`
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
    journal = await openUserSideJournal({
      ...{ ...options, followed },
      connect: () => openEngine(readJournalFile(file), log),
      fatal(err) {
        log.fatal({ err }, 'the journal takes nothing more of this identity provider')
        process.exit(1)
      },
    })
    progress = null
    return journal
  } finally {
    clearInterval(held)
  }
}
