import { readFileSync } from 'node:fs'
import { z } from 'zod'

/**
 * The engine of the journal that commits go to before they are in the store. In a file of its own,
 * named by `COUNTERSIGN_JOURNAL_FILE`, since it holds passwords; without one there is no journal.
 */
export interface JournalSettings {
  /** Servers of which one takes writes at a time. */
  readonly postgres: readonly string[]
}

const SERVERS_MAX = 8

const journalFile = z.strictObject({
  postgres: z
    .array(
      z
        .string()
        .max(4_096)
        .regex(/^postgres(ql)?:\/\/./, 'begins with postgres://'),
    )
    .min(1)
    .max(SERVERS_MAX),
})

/** @throws Error that names each offending field and never repeats its value */
export function readJournalFile(path: string): JournalSettings {
  const parsed = journalFile.safeParse(parsedJson(path))
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(
    ({ path: at, message }) => `  ${at.join('.') || 'the file'}: ${message}`,
  )
  throw new Error(`${path} is not usable:\n${lines.join('\n')}`)
}

function parsedJson(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own words show what is around the slip, which may be the password.
    throw new Error(`${path} is not JSON`)
  }
}
