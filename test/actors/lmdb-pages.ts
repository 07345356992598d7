/** Where a record lies in a `data.mdb`, in bytes from its beginning. */
export interface RecordPlace {
  /** Name of its key space. */
  readonly space: string
  readonly keyAt: number
  readonly keyBytes: number
  readonly valueAt: number
  readonly valueBytes: number
}

const PAGE_SIZE_AT = 48
const MAIN_ROOT_AT = 136
const TXN_AT = 152
const HEADER_BYTES = 24
const BRANCH = 1
const ON_OWN_PAGES = 1
const TREE_ROOT_AT = 40
const NO_PAGE = 2n ** 64n - 1n

interface Node {
  readonly at: number
  readonly flags: number
  readonly keyAt: number
  readonly keyBytes: number
}

/** Every record of an LMDB file, by the layout of its data version 2 (mdb.c). */
export function placesOfRecords(file: Buffer): RecordPlace[] {
  const pageBytes = file.readUInt32LE(PAGE_SIZE_AT)
  const metaAt =
    file.readBigUInt64LE(TXN_AT) > file.readBigUInt64LE(pageBytes + TXN_AT) ? 0 : pageBytes
  const trees = leafNodes(file, pageBytes, file.readBigUInt64LE(metaAt + MAIN_ROOT_AT))
  return trees.flatMap(({ keyAt, keyBytes }) => {
    const space = file.toString('latin1', keyAt, keyAt + keyBytes).replace(/\0$/, '')
    const root = file.readBigUInt64LE(keyAt + keyBytes + TREE_ROOT_AT)
    return leafNodes(file, pageBytes, root).map((node) => {
      const valueBytes = file.readUInt32LE(node.at)
      const inPage = node.keyAt + node.keyBytes
      const valueAt =
        (node.flags & ON_OWN_PAGES) === 0
          ? inPage
          : Number(file.readBigUInt64LE(inPage)) * pageBytes + HEADER_BYTES
      return { space, keyAt: node.keyAt, keyBytes: node.keyBytes, valueAt, valueBytes }
    })
  })
}

function leafNodes(file: Buffer, pageBytes: number, root: bigint): Node[] {
  if (root === NO_PAGE) return []
  const page = Number(root) * pageBytes
  const isBranch = (file.readUInt16LE(page + 18) & BRANCH) !== 0
  const count = file.readUInt16LE(page + 20) >> 1
  return Array.from({ length: count }, (_, index) => {
    const at = page + HEADER_BYTES + file.readUInt16LE(page + HEADER_BYTES + 2 * index)
    const flags = file.readUInt16LE(at + 4)
    if (!isBranch) return [{ at, flags, keyAt: at + 8, keyBytes: file.readUInt16LE(at + 6) }]
    const child = BigInt(file.readUInt32LE(at)) | (BigInt(flags) << 32n)
    return leafNodes(file, pageBytes, child)
  }).flat()
}
