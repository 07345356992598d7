import { createHash } from 'node:crypto'
import { isOpened, SCHEMA_VERSION } from './key-spaces.js'

/**
 * An entry of the journal, as the store sees it. A commit that is too long for one entry is cut
 * into parts, one entry each. A commit whose last part is missing was never acknowledged and has no
 * effect.
 *
 * `form 1 | flags 1 | schema 2 | part 4 | store 16 | previous 16 | checksum 16 | content`, big endian.
 * The checksum covers everything before and after it, and is the entry's name in the next one. Each
 * entry thus confirms all entries before it.
 */
export interface JournalEntry {
  /** Id of the store, drawn once, in hex, so that no store follows the journal of another. */
  readonly storeId: string
  /** The journal begins after a base, that is, it needs a store with what was committed before. */
  readonly isBase: boolean
  /** The index of this part in its commit, from 0. */
  readonly part: number
  readonly isLast: boolean
  /** Name of the entry before it, even one that has no effect; `NO_ENTRY` in the first. */
  readonly previous: string
  readonly content: Uint8Array
}

export const STORE_ID_BYTES = 16

const ENTRY_FORM = 2
/**
 * The form of a snapshot's chunk (`snapshots/chunk.ts`), so that neither is ever taken for the
 * other.
 */
const CHUNK_FORM = 3
const BASE = 1
const LAST = 2

const STORE_AT = 8
const PREVIOUS_AT = STORE_AT + STORE_ID_BYTES
const CHECKSUM_BYTES = 16
const CHECKSUM_AT = PREVIOUS_AT + CHECKSUM_BYTES
export const ENTRY_HEAD_BYTES = CHECKSUM_AT + CHECKSUM_BYTES

/** Stands for the name of the entry before the first one. */
export const NO_ENTRY = '00'.repeat(CHECKSUM_BYTES)

export function encodeEntry(entry: JournalEntry): Buffer {
  return encoded(ENTRY_FORM, entry)
}

/**
 * @param chunk has the chunk's index as `part` and the name of the chunk before it as `previous`
 */
export function encodeChunk(chunk: JournalEntry): Buffer {
  return encoded(CHUNK_FORM, chunk)
}

function encoded(form: number, entry: JournalEntry): Buffer {
  const { storeId, isBase, part, isLast, previous, content } = entry
  const bytes = Buffer.alloc(ENTRY_HEAD_BYTES + content.length)
  bytes[0] = form
  bytes[1] = (isBase ? BASE : 0) | (isLast ? LAST : 0)
  bytes.writeUInt16BE(SCHEMA_VERSION, 2)
  bytes.writeUInt32BE(part, 4)
  bytes.write(storeId, STORE_AT, 'hex')
  bytes.write(previous, PREVIOUS_AT, 'hex')
  bytes.set(content, ENTRY_HEAD_BYTES)
  bytes.set(checksumOf(bytes), CHECKSUM_AT)
  return bytes
}

/** @throws Error for an entry that is damaged or that this build cannot read */
export function decodeEntry(seq: number, body: Uint8Array): JournalEntry {
  return decoded(`entry ${seq} of the journal`, ENTRY_FORM, body)
}

/** @throws Error as `decodeEntry` */
export function decodeChunk(index: number, snapshotSeq: number, body: Uint8Array): JournalEntry {
  const what = `chunk ${index} of the journal's snapshot of entry ${snapshotSeq}`
  const chunk = decoded(what, CHUNK_FORM, body)
  if (chunk.part !== index) throw new Error(`${what} is chunk ${chunk.part} instead`)
  return chunk
}

function decoded(what: string, form: number, body: Uint8Array): JournalEntry {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (bytes[0] !== form) {
    throw new Error(`${what} has form ${bytes[0]}, but this build reads only ${form}`)
  }
  const isWhole = bytes.length >= ENTRY_HEAD_BYTES
  const checksum = bytes.subarray(CHECKSUM_AT, ENTRY_HEAD_BYTES)
  if (!isWhole || !checksumOf(bytes).equals(checksum)) {
    throw new Error(`${what} is damaged`)
  }
  const schema = bytes.readUInt16BE(2)
  if (!isOpened(schema)) {
    throw new Error(
      `${what} has schema version ${schema}, but this build reads only ${SCHEMA_VERSION}`,
    )
  }
  const flags = bytes[1] ?? 0
  return {
    storeId: bytes.toString('hex', STORE_AT, PREVIOUS_AT),
    previous: bytes.toString('hex', PREVIOUS_AT, CHECKSUM_AT),
    isBase: (flags & BASE) !== 0,
    isLast: (flags & LAST) !== 0,
    part: bytes.readUInt32BE(4),
    content: bytes.subarray(ENTRY_HEAD_BYTES),
  }
}

/** @param body the result of `encodeEntry`. No other entry has the same name. */
export function nameOfEntry(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString(
    'hex',
    CHECKSUM_AT,
    ENTRY_HEAD_BYTES,
  )
}

function checksumOf(bytes: Buffer): Buffer {
  return createHash('sha256')
    .update(bytes.subarray(0, CHECKSUM_AT))
    .update(bytes.subarray(ENTRY_HEAD_BYTES))
    .digest()
    .subarray(0, CHECKSUM_BYTES)
}

const LENGTH_BYTES = 4

/** Joins commits that share an entry. */
export function joinCommits(commits: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    commits.flatMap((commit) => {
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt32BE(commit.length)
      return [length, commit]
    }),
  )
}

/** @param content the result of `joinCommits` */
export function splitCommits(content: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  const commits: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const from = at + LENGTH_BYTES
    at = from + bytes.readUInt32BE(at)
    commits.push(bytes.subarray(from, at))
  }
  return commits
}
