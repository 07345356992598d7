import type { EvidenceEntry } from './evidence-log.js'

/** An entry that the log does not have on disk yet, while what it proves is on disk. */
export interface OwedEntry extends EvidenceEntry {
  /** Entries of the log when it came to be owed: it is at no index below. */
  readonly after: number
}
