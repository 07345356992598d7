import type { AddressSet } from '../set/address-set.js'
import type { ListKind, RefusedEntry } from './named-list.js'

/** The record that a verdict keeps of each list it was made against. */
export interface ListVersion {
  readonly list: string
  readonly kind: ListKind
  readonly source: string
  readonly version: string
  readonly entries: number
  readonly checkedAtMs: number
  /** Null: the list never counts as stale. */
  readonly maxAgeMs: number | null
}

/** One publication in the form that crosses threads; the buffer is shared, the rest is copied. */
export interface Publication {
  /** Grows by one with each publication. */
  readonly sequence: number
  readonly buffer: SharedArrayBuffer
  readonly lists: readonly ListVersion[]
  /** From this time on nothing may be screened with these lists; null means never. */
  readonly staleAtMs: number | null
  /** Why the service must not screen with these lists at all, or null. */
  readonly unusable: string | null
}

/** A publication opened in this thread. */
export interface OpenLists extends Omit<Publication, 'buffer'> {
  readonly set: AddressSet
}

/** The newest lists, as one thread has them. Reading costs one atomic load. */
export interface ListsReader {
  /** Null until the first publication has arrived. */
  current(): OpenLists | null
  close(): void
}

export interface ListState extends ListVersion {
  readonly ageMs: number
  readonly stale: boolean
  readonly refusedCount: number
  /** The first of the refused entries. */
  readonly refused: readonly RefusedEntry[]
}

/** The status that operators see. */
export interface ListsStatus {
  /** False: every write is answered SCREENING_UNAVAILABLE. */
  readonly ready: boolean
  readonly reason: string | null
  readonly lists: readonly ListState[]
  /** Files that could not be read or were refused whole; their earlier content still counts. */
  readonly problems: readonly string[]
}
