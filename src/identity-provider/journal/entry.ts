import { createHash } from 'node:crypto'
import { Packr } from 'msgpackr'
import type { DataKeys } from '../../custody/domain-keys/data-keys.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'

/**
 * An entry of the identity provider's journal: writes to its stores, sealed under its data key. The
 * engine's operator can therefore neither read nor forge entries, only lose the last ones.
 *
 * `form 1 | flags 1 | journal 16 | previous 16 | sealed`, where `previous` is the hash of the entry
 * before it: each entry vouches for all earlier ones.
 */
export interface JournalEntry {
  /** A random id, in hex, drawn when the journal begins. A home never follows another journal. */
  readonly journal: string
  /** The name of the previous entry; `NO_ENTRY` in the first. */
  readonly previous: string
  /** True when the next entry continues the same transaction. */
  readonly isPart: boolean
  /** In the order in which each store made them. */
  readonly writes: readonly JournaledWrite[]
}

export interface JournaledWrite {
  /** The store's number. */
  readonly store: number
  /** The write's number among the store's recorded writes. */
  readonly number: number
  readonly packed: Uint8Array
}

export const JOURNAL_ID_BYTES = 16
/** The forms of a wallet service's journal have lower numbers. */
const FORM = 16
const PART = 1
const NAME_BYTES = 16
const JOURNAL_AT = 2
const PREVIOUS_AT = JOURNAL_AT + JOURNAL_ID_BYTES
const HEAD_BYTES = PREVIOUS_AT + NAME_BYTES

/** The `previous` of the first entry. */
export const NO_ENTRY = '00'.repeat(NAME_BYTES)

const packer = new Packr({ useRecords: false })

export type Sealer = Pick<DataKeys, 'seal' | 'open'>

export function encodeEntry(entry: JournalEntry, sealer: Sealer): Buffer {
  const head = concat(
    Buffer.of(FORM, entry.isPart ? PART : 0),
    Buffer.from(entry.journal, 'hex'),
    Buffer.from(entry.previous, 'hex'),
  )
  const writes = entry.writes.map(({ store, number, packed }) => [store, number, packed])
  return concat(head, sealer.seal(packer.pack(writes), head))
}

/** @throws Error when the entry was changed, or is not an identity provider's */
export function decodeEntry(seq: number, body: Uint8Array, sealer: Sealer): JournalEntry {
  const bytes = viewOf(body)
  if (bytes[0] !== FORM) {
    throw new Error(
      `entry ${seq} of the journal is of form ${bytes[0]}, which is not an identity provider's: give the identity provider a journal engine of its own`,
    )
  }
  const head = bytes.subarray(0, HEAD_BYTES)
  let opened: Buffer
  try {
    opened = sealer.open(bytes.subarray(HEAD_BYTES), head)
  } catch (cause) {
    throw new Error(
      `entry ${seq} of the journal cannot be opened: it was changed, or sealed under a data key that this home does not have`,
      { cause },
    )
  }
  const writes = packer.unpack(opened) as [number, number, Buffer][]
  return {
    journal: bytes.toString('hex', JOURNAL_AT, PREVIOUS_AT),
    previous: bytes.toString('hex', PREVIOUS_AT, HEAD_BYTES),
    isPart: ((bytes[1] ?? 0) & PART) !== 0,
    writes: writes.map(([store, number, packed]) => ({ store, number, packed })),
  }
}

/** @param body the result of `encodeEntry` */
export function nameOfEntry(body: Uint8Array): string {
  return createHash('sha256').update(body).digest().toString('hex', 0, NAME_BYTES)
}
