import { z } from 'zod'
import { readJsonFile } from './json-file.js'

/**
 * The engine of the journal that commits go to before they are in the store. In a file of its own,
 * named by `COUNTERSIGN_JOURNAL_FILE`, since it holds passwords; without one there is no journal.
 */
export interface JournalSettings {
  /** Servers of which one takes writes at a time. */
  readonly postgres: readonly string[]
}

const SERVERS_MAX = 8
const OPTIONS = /[?&]options=/

const journalFile = z.strictObject({
  postgres: z
    .array(
      z
        .string()
        .max(4_096)
        .regex(/^postgres(ql)?:\/\/./, 'begins with postgres://')
        // They would take the place of the journal's own, by which a commit waits for the disk.
        .refine((url) => !OPTIONS.test(url), 'names a server, and no options of its sessions'),
    )
    .min(1)
    .max(SERVERS_MAX),
})

/** @throws as `readJsonFile` */
export function readJournalFile(path: string): JournalSettings {
  return readJsonFile(path, journalFile)
}
