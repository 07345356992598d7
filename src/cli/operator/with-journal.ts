import { cellsOf, readJournalFile } from '../../config/journal.js'
import { type Cell, ONE_CELL } from '../../domain/cells.js'
import type { Journal } from '../../journal/journal.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import type { NodeDomain } from './make-node-home.js'

const HELD_MS = 60_000

/** The variables that name the file of each domain's engine. */
const VARIABLES = { service: 'COUNTERSIGN_JOURNAL_FILE', user: 'IDENTITY_JOURNAL_FILE' } as const

/** @throws UsageError when no journal is named */
export function journalFileOf({ env }: Io, domain: NodeDomain): string {
  const variable = VARIABLES[domain]
  const file = env[variable]
  if (file === undefined) throw new UsageError(`${variable} names no journal`)
  return file
}

/**
 * @param use called with the domain's journal from the environment, open until it resolves, in
 * which this home's commits are its own
 * @throws UsageError when the environment names none
 */
export async function withJournal<T>(
  io: Io,
  domain: NodeDomain,
  use: (journal: Journal, cell: Cell) => Promise<T>,
): Promise<T> {
  const file = journalFileOf(io, domain)
  const { openEngine } = await import('../../journal/open-engine.js')
  const settings = readJournalFile(file)
  const { own } = domain === 'service' ? cellsOf(settings) : { own: ONE_CELL }
  const journal = await openEngine(settings, {
    warn: (_context, message) => io.err(`${message}\n`),
  })
  // No other handle keeps the process alive while it waits for an unavailable journal.
  const held = setInterval(() => undefined, HELD_MS)
  try {
    return await use(journal, own)
  } finally {
    clearInterval(held)
    await journal.close()
  }
}
