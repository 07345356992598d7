import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * LMDB maps a file as it is and ends the process on one that is not its own or was cut off, without
 * a word. This looks at the two meta pages before: enough to tell a wrong file from a right one.
 * The layout is that of LMDB's data version 2 (MDB_meta in mdb.c), 64 bits, little endian.
 */
const META_BYTES = 160
const MAGIC = 0xbeefc0de
const MAGIC_AT = 24
const PAGE_SIZE_AT = 48
const FREE_ROOT_AT = 88
const MAIN_ROOT_AT = 136
const TXN_AT = 152
/** P_INVALID: a tree without pages. */
const NO_PAGE = 2n ** 64n - 1n

/** Without effect when there is no file: LMDB makes one. @throws Error that names the file */
export function requireLmdbFile(path: string): void {
  if (!existsSync(path)) return
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    // An environment that was opened and never written to.
    if (size === 0) return
    const first = metaAt(file, 0)
    const pageSize = first?.readUInt32LE(PAGE_SIZE_AT) ?? 0
    const second = pageSize < 512 || pageSize > 65_536 ? null : metaAt(file, pageSize)
    if (first === null || second === null) throw new Error(`${path} is not an LMDB file`)
    const newer = first.readBigUInt64LE(TXN_AT) > second.readBigUInt64LE(TXN_AT) ? first : second
    for (const at of [FREE_ROOT_AT, MAIN_ROOT_AT]) {
      const root = newer.readBigUInt64LE(at)
      if (root !== NO_PAGE && (root + 1n) * BigInt(pageSize) > BigInt(size)) {
        throw new Error(`${path} was cut off: ${size} bytes are too few`)
      }
    }
  } finally {
    closeSync(file)
  }
}

/** Null when there is no meta page. */
function metaAt(file: number, offset: number): Buffer | null {
  const meta = Buffer.alloc(META_BYTES)
  if (readSync(file, meta, 0, META_BYTES, offset) < META_BYTES) return null
  return meta.readUInt32LE(MAGIC_AT) === MAGIC ? meta : null
}
