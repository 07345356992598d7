import { readJournalFile } from '../../config/journal.js'
import type { Journal } from '../../journal/journal.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'

const HELD_MS = 60_000

/** @throws UsageError where no journal is named */
export function journalFileOf({ env }: Io): string {
  const file = env.COUNTERSIGN_JOURNAL_FILE
  if (file === undefined) throw new UsageError('COUNTERSIGN_JOURNAL_FILE names no journal')
  return file
}

/**
 * @param use is given the journal that the environment names, open as long as it takes
 * @throws UsageError where it names none
 */
export async function withJournal<T>(io: Io, use: (journal: Journal) => Promise<T>): Promise<T> {
  const file = journalFileOf(io)
  const { openEngine } = await import('../../journal/open-engine.js')
  const journal = await openEngine(readJournalFile(file), {
    warn: (_context, message) => io.err(`${message}\n`),
  })
  // While a journal that is away is waited for, nothing else would hold the process.
  const held = setInterval(() => undefined, HELD_MS)
  try {
    return await use(journal)
  } finally {
    clearInterval(held)
    await journal.close()
  }
}
