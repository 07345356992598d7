import type { EvidenceEntry } from './evidence-log.js'

/** An entry that the log does not have on disk yet, although what it proves is on disk. */
export interface OwedEntry extends EvidenceEntry {
  /** The log's length when the entry was added: its index is not below it. */
  readonly after: number
}
