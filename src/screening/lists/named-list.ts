import { createHash } from 'node:crypto'
import { ADDRESS_BYTES } from '../set/address-bytes.js'
import { SET_ENTRIES_MAX } from '../set/address-set.js'
import { type EntryFault, entryFault } from './entry-check.js'

/**
 * The authority of a list, which decides what a user's own allow entry may override: only `risk`.
 */
export type ListKind = 'sanctions' | 'operator' | 'risk'

/** One list in memory, without its refused entries. */
export interface NamedList {
  readonly name: string
  readonly kind: ListKind
  /** Its source: a file name, or a publisher. */
  readonly source: string
  /** Changes exactly when the content does. */
  readonly version: string
  /**
   * When its content was last known to be the publisher's newest, milliseconds since the Unix
   * epoch.
   */
  readonly checkedAtMs: number
  /** Past this age the list counts as unavailable; null never ages. */
  readonly maxAgeMs: number | null
  /** 20 bytes per entry. */
  readonly packed: Uint8Array
  readonly refused: readonly RefusedEntry[]
  /** The number of refused entries; `refused` shows the first REFUSED_SHOWN_MAX. */
  readonly refusedCount: number
}

export interface RefusedEntry {
  /** The entry's text, cut at REFUSED_TEXT_MAX characters. */
  readonly text: string
  readonly fault: EntryFault
}

const REFUSED_SHOWN_MAX = 100
const REFUSED_TEXT_MAX = 64

/**
 * Gathers the entries of one list: checks each, drops duplicates and keeps a report of the refused
 * ones. Entries past SET_ENTRIES_MAX throw, since a truncated list would let addresses through.
 */
export class EntryCollector {
  readonly refused: RefusedEntry[] = []
  refusedCount = 0
  readonly #seen = new Set<string>()
  readonly #isProtected: (entry: Uint8Array) => boolean

  constructor(isProtected: (entry: Uint8Array) => boolean) {
    this.#isProtected = isProtected
  }

  /** @throws RangeError when the list holds more than SET_ENTRIES_MAX addresses */
  add(entry: Uint8Array, text: string): void {
    const fault = entryFault(entry, this.#isProtected)
    if (fault !== null) {
      this.refuse(text, fault)
      return
    }
    this.#seen.add(Buffer.from(entry).toString('latin1'))
    if (this.#seen.size > SET_ENTRIES_MAX) {
      throw new RangeError(`a list of more than ${SET_ENTRIES_MAX} addresses`)
    }
  }

  refuse(text: string, fault: EntryFault): void {
    this.refusedCount++
    if (this.refused.length < REFUSED_SHOWN_MAX) {
      this.refused.push({ text: text.slice(0, REFUSED_TEXT_MAX), fault })
    }
  }

  get size(): number {
    return this.#seen.size
  }

  /** Sorts them, so that the same entries give the same version in any order. */
  packed(): Uint8Array {
    const packed = Buffer.allocUnsafe(this.#seen.size * ADDRESS_BYTES)
    let at = 0
    for (const entry of [...this.#seen].sort()) at += packed.write(entry, at, 'latin1')
    return packed
  }
}

/** A short content hash: 16 hex digits of SHA-256 over the sorted entries. */
export function listVersion(packed: Uint8Array): string {
  return createHash('sha256').update(packed).digest('hex').slice(0, 16)
}
