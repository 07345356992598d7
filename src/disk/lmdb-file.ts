import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { openGated } from './gated-environment.js'
import { type GateFiles, openGate } from './open-gate.js'

const DATA_FILE = 'data.mdb'

/**
 * Checks each LMDB file before it is opened. LMDB maps the file as it is, so a missing page ends
 * the process by a signal, without a message.
 *
 * The layout is that of LMDB's data version 2 (MDB_meta, MDB_page, MDB_node in mdb.c), 64 bits,
 * little endian.
 */
const META_BYTES = 160
const MAGIC = 0xbeefc0de
const MAGIC_AT = 24
const PAGE_SIZE_AT = 48
const FREE_ROOT_AT = 88
const MAIN_ROOT_AT = 136
const LAST_PAGE_AT = 144
const TXN_AT = 152

const PAGE_HEADER_BYTES = 24
const PAGE_NUMBER_AT = 0
const PAGE_FLAGS_AT = 18
const PAGE_LOWER_AT = 20
const BRANCH = 0x01
const LEAF = 0x02
/** A leaf that contains only values, all of one length. */
const LEAF_OF_VALUES = 0x20

const NODE_HEADER_BYTES = 8
const NODE_FLAGS_AT = 4
const KEY_BYTES_AT = 6
/** The value lies on separate pages; the node has the number of the first one and their count. */
const ON_OWN_PAGES = 0x01
const OWN_PAGES_AT = 16
const OWN_PAGES_BYTES = 24
/** The value describes a tree. */
const IS_TREE = 0x02
const TREE_ROOT_AT = 40
const TREE_BYTES = 48

/** P_INVALID: a tree without pages. */
const NO_PAGE = 2n ** 64n - 1n

/** How often a file is read again because its writer has committed in between. */
const TRIES_MAX = 10

/** LMDB creates an empty file and then writes its first two pages. */
const MADE_BYTES_MIN = 2 * 4_096

/** Another thread that creates the same file finishes within a moment. */
const MAKING_MS_MAX = 1_000
const MAKING_POLL_MS = 5

/**
 * Opens an LMDB file. Several threads may open the same file at once, even a new one.
 * @param makingMsMax how long an unfinished new file may take to be finished
 * @throws Error that names the file if it is not an LMDB file or was truncated
 */
export function openLmdb(
  options: RootDatabaseOptionsWithPath & { readonly path: string },
  makingMsMax: number = MAKING_MS_MAX,
): RootDatabase {
  const { path, noSubdir = extname(path) !== '' } = options
  requireMadeFile(noSubdir ? path : join(path, DATA_FILE), makingMsMax)
  const isReadOnly = options.readOnly === true
  if (!isReadOnly) mkdirSync(noSubdir ? dirname(path) : path, { recursive: true, mode: 0o700 })
  return openGated(openGate(besideOf(path, noSubdir)), isReadOnly, () => open(options))
}

/**
 * Removes the lock files that opening a store leaves beside it. Only for a store that no process
 * has open any longer, such as a backup's.
 * @param file `data.mdb` in its directory, or a file without a directory
 */
export function removeTraces(file: string): void {
  const isDirectory = basename(file) === DATA_FILE
  const beside = besideOf(isDirectory ? dirname(file) : file, !isDirectory)
  for (const path of Object.values(beside)) rmSync(path, { force: true })
}

function besideOf(path: string, noSubdir: boolean): GateFiles {
  const at = (name: string) => (noSubdir ? `${path}-${name}.lock` : join(path, `${name}.lock`))
  return {
    lock: noSubdir ? `${path}-lock` : join(path, 'lock.mdb'),
    opening: at('opening'),
    commits: at('commits'),
  }
}

/** Calls `requireLmdbFile` until the file cannot still be in creation. */
function requireMadeFile(path: string, makingMsMax: number): void {
  const deadlineMs = performance.now() + makingMsMax
  for (;;) {
    // The size is read first, because the file may be finished in between.
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    try {
      requireLmdbFile(path)
      return
    } catch (error) {
      if (bytes >= MADE_BYTES_MIN || performance.now() > deadlineMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MAKING_POLL_MS)
    }
  }
}

/** Does nothing if there is no file, because LMDB creates one. @throws Error as `openLmdb` */
export function requireLmdbFile(path: string): void {
  if (!existsSync(path)) return
  const file = openSync(path, 'r')
  try {
    // LMDB would take an empty file for a new one, and everything stored would be lost.
    if (fstatSync(file).size === 0) {
      throw new Error(`${path} is empty. Remove it only if nothing was ever stored there`)
    }
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const meta = newestMeta(file)
      if (meta === null) throw new Error(`${path} is not an LMDB file, or is incomplete`)
      // Read after the meta page, which is written last; the file only grows.
      const bytes = fstatSync(file).size
      if (isWhole(file, meta, bytes)) return
      // Pages that the writer has freed since may contain anything.
      if (newestMeta(file)?.txn === meta.txn) {
        throw new Error(
          `${path} is truncated or damaged: some pages are missing in its ${bytes} bytes`,
        )
      }
    }
  } finally {
    closeSync(file)
  }
}

interface Meta {
  readonly pageBytes: number
  readonly txn: bigint
  readonly lastPage: bigint
  readonly roots: readonly bigint[]
}

/** Null if one of the two meta pages is missing. */
function newestMeta(file: number): Meta | null {
  const first = metaAt(file, 0)
  const pageBytes = first?.readUInt32LE(PAGE_SIZE_AT) ?? 0
  const second = pageBytes < 512 || pageBytes > 65_536 ? null : metaAt(file, pageBytes)
  if (first === null || second === null) return null
  const newer = first.readBigUInt64LE(TXN_AT) > second.readBigUInt64LE(TXN_AT) ? first : second
  return {
    pageBytes,
    txn: newer.readBigUInt64LE(TXN_AT),
    lastPage: newer.readBigUInt64LE(LAST_PAGE_AT),
    roots: [FREE_ROOT_AT, MAIN_ROOT_AT].map((at) => newer.readBigUInt64LE(at)),
  }
}

function metaAt(file: number, offset: number): Buffer | null {
  const meta = Buffer.alloc(META_BYTES)
  if (readSync(file, meta, 0, META_BYTES, offset) < META_BYTES) return null
  return meta.readUInt32LE(MAGIC_AT) === MAGIC ? meta : null
}

/**
 * Whether every page in use is in the file. The last pages of a healthy file may be missing,
 * because pages that were allocated and freed in one commit are never written. Only then are the
 * trees walked, which takes a second for each gigabyte.
 */
function isWhole(file: number, { pageBytes, lastPage, roots }: Meta, bytes: number): boolean {
  if ((lastPage + 1n) * BigInt(pageBytes) <= BigInt(bytes)) return true
  const pages = Math.floor(bytes / pageBytes)
  const page = Buffer.alloc(pageBytes)
  const unseen = roots.filter((root) => root !== NO_PAGE)
  let seen = 0
  for (;;) {
    const next = unseen.pop()
    if (next === undefined) return true
    // More pages than the file has means a tree that leads back to itself.
    if (next >= pages || ++seen > pages) return false
    readSync(file, page, 0, pageBytes, Number(next) * pageBytes)
    if (page.readBigUInt64LE(PAGE_NUMBER_AT) !== next) return false
    if (!followPage(page, BigInt(pages), unseen)) return false
  }
}

/** Adds the pages that a page leads to. @returns whether they can be read and are in the file */
function followPage(page: Buffer, pages: bigint, unseen: bigint[]): boolean {
  const flags = page.readUInt16LE(PAGE_FLAGS_AT)
  if ((flags & LEAF_OF_VALUES) !== 0) return true
  if ((flags & (BRANCH | LEAF)) === 0) return false
  const nodes = page.readUInt16LE(PAGE_LOWER_AT) >> 1
  if (PAGE_HEADER_BYTES + 2 * nodes > page.length) return false
  for (let index = 0; index < nodes; index++) {
    const node = PAGE_HEADER_BYTES + page.readUInt16LE(PAGE_HEADER_BYTES + 2 * index)
    if (node + NODE_HEADER_BYTES > page.length) return false
    const nodeFlags = page.readUInt16LE(node + NODE_FLAGS_AT)
    if ((flags & BRANCH) !== 0) {
      unseen.push(BigInt(page.readUInt32LE(node)) | (BigInt(nodeFlags) << 32n))
      continue
    }
    const value = node + NODE_HEADER_BYTES + page.readUInt16LE(node + KEY_BYTES_AT)
    if ((nodeFlags & ON_OWN_PAGES) !== 0) {
      if (value + OWN_PAGES_BYTES > page.length) return false
      const first = page.readBigUInt64LE(value)
      if (first + page.readBigUInt64LE(value + OWN_PAGES_AT) > pages) return false
    } else if ((nodeFlags & IS_TREE) !== 0) {
      if (value + TREE_BYTES > page.length) return false
      const root = page.readBigUInt64LE(value + TREE_ROOT_AT)
      if (root !== NO_PAGE) unseen.push(root)
    }
  }
  return true
}
