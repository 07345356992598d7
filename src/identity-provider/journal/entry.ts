import { createHash } from 'node:crypto'
import { Packr } from 'msgpackr'
import type { DataKeys } from '../../custody/domain-keys/data-keys.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'

/**
 * An entry of the user side's journal: writes to its stores, sealed under its data key, so that whoever
 * has the engine reads none of them, and can make up none. What they can do is lose the last ones.
 *
 * `form 1 | flags 1 | journal 16 | previous 16 | sealed`, where `previous` names the entry before it: so
 * each vouches for all before it.
 */
export interface JournalEntry {
  /** Which one, drawn when it was begun: nobody follows another's. Hex. */
  readonly journal: string
  /** Name of the entry before it; `NO_ENTRY` in the first. */
  readonly previous: string
  /** More of what was stored together follows in the next one. */
  readonly isPart: boolean
  /** In the order in which each store has them. */
  readonly writes: readonly JournaledWrite[]
}

export interface JournaledWrite {
  /** Number of the store. */
  readonly store: number
  /** Of the write among the store's recorded ones. */
  readonly number: number
  readonly packed: Uint8Array
}

export const JOURNAL_ID_BYTES = 16
/** One that belongs to a wallet service begins with a lower one. */
const FORM = 16
const PART = 1
const NAME_BYTES = 16
const JOURNAL_AT = 2
const PREVIOUS_AT = JOURNAL_AT + JOURNAL_ID_BYTES
const HEAD_BYTES = PREVIOUS_AT + NAME_BYTES

/** Before the first one. */
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

/** @throws Error for one that is not what was stored, or not of a user side */
export function decodeEntry(seq: number, body: Uint8Array, sealer: Sealer): JournalEntry {
  const bytes = viewOf(body)
  if (bytes[0] !== FORM) {
    throw new Error(
      `entry ${seq} of the journal is of form ${bytes[0]}: it is no user side's, which has a journal, and an engine, of its own`,
    )
  }
  const head = bytes.subarray(0, HEAD_BYTES)
  let opened: Buffer
  try {
    opened = sealer.open(bytes.subarray(HEAD_BYTES), head)
  } catch (cause) {
    throw new Error(
      `entry ${seq} of the journal does not open: it was changed, or sealed under a data key that this home does not have`,
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

/** @param body of `encodeEntry` */
export function nameOfEntry(body: Uint8Array): string {
  return createHash('sha256').update(body).digest().toString('hex', 0, NAME_BYTES)
}
