import { existsSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Timers } from '../clock/timers.js'
import { readJournalFile } from '../config/journal.js'
import { openPostgresJournal } from '../journal/postgres-journal.js'
import { JournalFenced } from '../store/append-until-known.js'
import type { Environment } from '../store/environment.js'
import { leaveJournal } from '../store/journal-position.js'
import type { JournalWriter } from '../store/journal-writer.js'
import { openJournaledStore } from '../store/journaled-store.js'

export interface ServiceJournal extends JournalWriter {
  close(): Promise<void>
}

export interface ServiceJournalOptions {
  readonly home: string
  /** COUNTERSIGN_JOURNAL_FILE; null: there is no journal. */
  readonly file: string | null
  readonly environment: Environment
  readonly timers: Timers
  readonly log: {
    fatal(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
}

const LEFT =
  'the store had a journal and starts without one: it goes on alone from here, and never again with that journal'

/**
 * Takes the journal for this home and brings its store up to it.
 *
 * A service that is fenced ends, and leaves a mark that keeps it from starting: its supervisor would
 * start it at once, and it would take the journal back from the one that took it over.
 * @returns null where no journal is asked for
 * @throws Error for a home that was fenced, and as `openJournaledStore`
 */
export async function openServiceJournal(
  options: ServiceJournalOptions,
): Promise<ServiceJournal | null> {
  const { home, file, environment, log } = options
  if (file === null) {
    if (await leaveJournal(environment)) log.warn({}, LEFT)
    return null
  }
  const fencedPath = join(home, 'service', 'journal-fenced')
  if (existsSync(fencedPath)) {
    throw new Error(
      `another service has taken this home's journal over. Remove ${fencedPath} to take it back, which ends that service`,
    )
  }
  const { postgres } = readJournalFile(file)
  const journal = await openPostgresJournal(postgres, log)
  const writer = await openJournaledStore({
    ...options,
    ...{ journal, node: hostname() },
    fatal(err) {
      if (err instanceof JournalFenced) {
        try {
          writeFileSync(fencedPath, '', { mode: 0o600 })
        } catch (cause) {
          // On a full disk: it ends all the same.
          log.fatal({ err: cause }, `remains unmarked: ${fencedPath} cannot be written`)
        }
      }
      log.fatal({ err }, 'the journal takes nothing more of this service')
      process.exit(1)
    },
  })
  return { ...writer, close: () => journal.close() }
}
