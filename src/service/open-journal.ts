import { hostname } from 'node:os'
import type { Registry } from 'prom-client'
import type { Timers } from '../clock/timers.js'
import { readJournalFile } from '../config/journal.js'
import { readJournalPermit, removeJournalPermit } from '../disk/journal-permit.js'
import { openEngine } from '../journal/open-engine.js'
import type { JournalOwner } from '../quorum-protocol/service-boot.js'
import type { Environment } from '../store/environment.js'
import { leaveJournal } from '../store/journal-position.js'
import type { JournalWriter } from '../store/journal-writer.js'
import { JournalHasSuccessor, openJournaledStore } from '../store/journaled-store.js'
import { createJournalMetrics } from './journal-metrics.js'

export interface ServiceJournal extends JournalWriter {
  /** For the user side, which approves nothing of an earlier one. */
  readonly owner: JournalOwner
  close(): Promise<void>
}

export interface ServiceJournalOptions {
  readonly home: string
  /** COUNTERSIGN_JOURNAL_FILE; null: there is no journal. */
  readonly file: string | null
  readonly environment: Environment
  readonly timers: Timers
  /** Only where there is a journal. */
  readonly registry: Registry
  readonly log: {
    fatal(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
}

const LEFT =
  'the store had a journal and starts without one: it goes on alone from here, and never again with that journal'

const TAKE_BACK =
  '`countersign cluster take` lets the next start here take it back, which ends that one'

/**
 * Takes the journal for this home and brings its store up to it.
 *
 * A service that is fenced ends, and so does each that its supervisor starts on its store: the journal
 * has a later owner than the store knows of.
 * @returns null where no journal is asked for
 * @throws Error for a home whose journal another service took over, and as `openJournaledStore`
 */
export async function openServiceJournal(
  options: ServiceJournalOptions,
): Promise<ServiceJournal | null> {
  const { home, file, environment, log } = options
  if (file === null) {
    if (await leaveJournal(environment)) log.warn({}, LEFT)
    return null
  }
  const journal = await openEngine(readJournalFile(file), log)
  const metrics = createJournalMetrics(options.registry)
  const writer = await openJournaledStore({
    ...options,
    ...{ journal, node: hostname(), appended: metrics.appended },
    overtakes: readJournalPermit(home),
    fatal(err) {
      log.fatal({ err }, 'the journal takes nothing more of this service')
      process.exit(1)
    },
  }).catch((cause: unknown) => {
    if (!(cause instanceof JournalHasSuccessor)) throw cause
    throw new Error(`${cause.message}; ${TAKE_BACK}`, { cause })
  })
  removeJournalPermit(home)
  metrics.show(writer)
  return { ...writer, close: () => journal.close() }
}
