import { packed, unpacked } from '../encodings/sealing.js'
import { decodeChunk, encodeChunk, NO_ENTRY, nameOfEntry } from '../journal-entry.js'
import type { JournalPosition } from '../journal-position.js'
import type { Row } from '../rows.js'
import { decodeRows, encodeRows } from '../rows-encoding.js'

/**
 * The chunks of a snapshot contain rows, encoded as in an entry; the last chunk is the manifest.
 * Each chunk names the one before it, as entries do, and the manifest names the entry that the
 * snapshot ends at. The manifest, which is read first, thus confirms all chunks, and the entry
 * after it confirms the manifest.
 */

/** The contents of the last chunk. */
export interface Manifest {
  readonly storeId: string
  readonly hasBase: boolean
  /** Seq and name of the last entry whose rows the snapshot has. */
  readonly seq: number
  readonly last: string
  readonly rows: number
  /** Name of the chunk before the manifest. */
  readonly lastChunk: string
}

interface ChunkWriter {
  rows(rows: readonly Row[]): Uint8Array
  /** Called once, at the end. */
  manifest(): Uint8Array
}

/** Writes one snapshot, chunk by chunk in order. */
export function createChunkWriter(position: JournalPosition): ChunkWriter {
  const { storeId, hasBase, seq, last } = position
  let previous = NO_ENTRY
  let part = 0
  let count = 0

  function chunk(content: Uint8Array, isLast: boolean): Uint8Array {
    const body = encodeChunk({ storeId, isBase: false, part, isLast, previous, content })
    part++
    previous = nameOfEntry(body)
    return body
  }

  return {
    rows(rows) {
      count += rows.length
      return chunk(encodeRows(rows), false)
    },
    manifest: () => chunk(packed({ hasBase, seq, last, rows: count }), true),
  }
}

/** @throws Error for a chunk that is damaged, is not the last, or belongs to another snapshot */
export function decodeManifest(index: number, seq: number, body: Uint8Array): Manifest {
  const { storeId, isLast, previous, content } = decodeChunk(index, seq, body)
  const manifest = isLast ? (unpacked(content) as Omit<Manifest, 'storeId' | 'lastChunk'>) : null
  if (manifest?.seq !== seq) {
    throw new Error(`chunk ${index} of the journal's snapshot of entry ${seq} does not end it`)
  }
  return { ...manifest, storeId, lastChunk: previous }
}

/**
 * @param previous name of the chunk before it
 * @throws Error for a chunk that is damaged or does not follow that one
 */
export function decodeRowsChunk(
  index: number,
  { storeId, seq }: Manifest,
  previous: string,
  body: Uint8Array,
): { readonly rows: Row[]; readonly name: string } {
  const chunk = decodeChunk(index, seq, body)
  if (chunk.isLast || chunk.storeId !== storeId || chunk.previous !== previous) {
    throw new Error(
      `chunk ${index} of the journal's snapshot of entry ${seq} does not follow the one before it`,
    )
  }
  return { rows: decodeRows(chunk.content), name: nameOfEntry(body) }
}
