import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import { Packr } from 'msgpackr'
import { openLmdb } from '../../disk/lmdb-file.js'
import { openRecorded } from '../../disk/recorded-writes.js'
import type { WrappedKeys } from './data-keys.js'
import type { DomainLayout } from './layout.js'

/**
 * Two LMDB environments with the same content: wallet records and wrapped data keys. The first is
 * read; the second remains when the first is lost. A copy without data keys was lost, or a first
 * start ended before it reached it: opening both fills it from the other.
 */
interface ShareCopies {
  get(walletId: Uint8Array): StoredRecord | undefined
  /**
   * Writes a record, durable in both copies on return.
   * @param mark set on the record in the same transaction; null removes it
   */
  put(walletId: Uint8Array, record: StoredRecord, mark: string | null): void
  /** Removes a record, durable in both copies on return. */
  remove(walletId: Uint8Array): void
  walletIds(): Iterable<Uint8Array>
  readonly marks: ShareMarks
  readonly dataKeys: WrappedKeys
  close(): Promise<void>
}

/** The mark of a record from before the journal, or written without it. */
export const BEFORE = 'before'
/**
 * The mark of a record that an operator restored on purpose: only the identity provider can
 * overrule it.
 */
export const RESTORED = 'restored'

/** Marks of records that another place has yet to receive; only the first copy has them. */
export interface ShareMarks {
  of(walletId: Uint8Array): string | undefined
  /**
   * Returns marked wallets in the order of their ids.
   * @param after absent to start with the first
   */
  list(limit: number, after?: Uint8Array): Uint8Array[]
  /** Sets `before` on every unmarked record, in one transaction. */
  putBefore(): void
  /**
   * Sets `restored` on every record of a key in use and `before` on the others, in one transaction.
   */
  putRestored(): void
  removeAll(): void
  /**
   * Removes the mark when the record is still the one that was copied. Otherwise the record gets
   * the mark again: of two copies made at once by two threads, the older may have arrived last.
   */
  settle(walletId: Uint8Array, record: StoredRecord | undefined, mark: string): Promise<void>
  /**
   * The name of the journal that has all records of these copies, or later ones; undefined without
   * one.
   */
  readonly levelWith: string | undefined
  noteLevelWith(journal: string): Promise<void>
}

export interface StoredRecord {
  readonly certificate: Uint8Array
  readonly share: Uint8Array
  readonly proofs: WalletProofs | null
  /** Set while the shares are being refreshed: what will replace the fields above. */
  readonly next?: { readonly certificate: Uint8Array; readonly share: Uint8Array } | null
}

/** The proofs after which a wallet's address may be published. */
export interface WalletProofs {
  /** 64 bytes each, over the certificate. */
  readonly serviceSignature: Uint8Array
  readonly userSignature: Uint8Array
  /** 65 bytes by the wallet key itself. */
  readonly selfTest: Uint8Array
}

interface Copy {
  readonly root: RootDatabase
  readonly wallets: Database<StoredRecord, Buffer>
  readonly marks: Database<string, Buffer>
  readonly level: Database<string, string>
  readonly dataKeys: Database<Uint8Array, string>
}

/**
 * Databases of a shares environment; names are never reused.
 * 01: wallet id (16 bytes) → record. 02: sequence and id of a data key → wrapped key. 03: wallet id →
 * mark of a record that has yet to be copied (`carried-shares.ts`). 04: `journal` → its name, once
 * all records were copied.
 */
const WALLETS = '01-wallets'
const DATA_KEYS = '02-data-keys'
const MARKS = '03-marks'
const LEVEL = '04-level'
const JOURNAL = 'journal'

/** @throws Error that names the file that cannot be read */
export function openShareCopies(layout: Pick<DomainLayout, 'shares' | 'sharesCopy'>): ShareCopies {
  const main = openCopy(layout.shares, openMain)
  const second = openCopy(layout.sharesCopy, openLmdb)
  const copies = [main, second]
  fill(second, main)
  fill(main, second)

  function putIn(
    { root, wallets, marks }: Copy,
    walletId: Uint8Array,
    record: StoredRecord,
    mark: string | null,
  ): void {
    const key = Buffer.from(walletId)
    root.transactionSync(() => {
      void wallets.put(key, record)
      if (mark !== null) void marks.put(key, mark)
      else if (marks.doesExist(key)) void marks.remove(key)
    })
  }

  return {
    get(walletId) {
      const key = Buffer.from(walletId)
      const record = main.wallets.get(key)
      // A crash between the two writes of `put` left the second copy behind: the next read of
      // the // record repairs it.
      const raw = main.wallets.getBinary(key)
      if (record !== undefined && raw !== undefined) {
        const copy = second.wallets.getBinary(key)
        if (copy === undefined || Buffer.compare(copy, raw) !== 0)
          putIn(second, walletId, record, null)
      }
      return record
    },
    put(walletId, record, mark) {
      putIn(main, walletId, record, mark)
      putIn(second, walletId, record, null)
    },
    remove(walletId) {
      for (const { root, wallets } of copies) {
        root.transactionSync(() => {
          void wallets.remove(Buffer.from(walletId))
        })
      }
    },
    walletIds: () => main.wallets.getKeys(),
    marks: marksOf(main),
    dataKeys: wrappedKeys(main, copies),
    async close() {
      for (const { root } of copies) await root.close()
    },
  }
}

/** Each home wraps the data keys under its own key, so the journal must not carry them. */
function openMain(options: Parameters<typeof openLmdb>[0]): RootDatabase {
  return openRecorded({ ...options, unrecorded: [DATA_KEYS] })
}

/** @param open opens the environment; the second copy follows the first and is not recorded */
function openCopy(path: string, open: typeof openMain): Copy {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  try {
    // Durable on return: a share must be on disk before the other domain learns of it.
    const root = open({ path, overlappingSync: false, maxDbs: 8 })
    const plain = { encoder: { useRecords: false } }
    return {
      root,
      wallets: root.openDB<StoredRecord, Buffer>({
        name: WALLETS,
        keyEncoding: 'binary',
        ...plain,
      }),
      marks: root.openDB<string, Buffer>({ name: MARKS, keyEncoding: 'binary', ...plain }),
      level: root.openDB<string, string>({ name: LEVEL, ...plain }),
      dataKeys: root.openDB<Uint8Array, string>({ name: DATA_KEYS, encoding: 'binary' }),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${join(path, 'data.mdb')} is not a readable share store: ${reason}`, { cause })
  }
}

function marksOf({ root, wallets, marks, level }: Copy): ShareMarks {
  return {
    of: (walletId) => marks.get(Buffer.from(walletId)),
    list: (limit, after) => {
      const start = after === undefined ? {} : { start: Buffer.from(after), exclusiveStart: true }
      return [...marks.getKeys({ ...start, limit })]
    },
    putBefore() {
      root.transactionSync(() => {
        for (const walletId of wallets.getKeys()) {
          if (!marks.doesExist(walletId)) void marks.put(walletId, BEFORE)
        }
      })
    },
    putRestored() {
      root.transactionSync(() => {
        for (const { key, value } of wallets.getRange()) {
          // An unfinished key has no epoch to go back to.
          void marks.put(key, value.proofs === null ? BEFORE : RESTORED)
        }
      })
    },
    removeAll() {
      root.transactionSync(() => {
        marks.clearSync()
      })
    },
    // Not synchronous, so that removing many marks waits for the disk only once.
    async settle(walletId, record, mark) {
      const key = Buffer.from(walletId)
      await root.transaction(() => {
        if (isSame(wallets.get(key), record)) void marks.remove(key)
        else if (!marks.doesExist(key)) void marks.put(key, mark)
      })
    },
    get levelWith() {
      return level.get(JOURNAL)
    },
    async noteLevelWith(journal) {
      await level.put(JOURNAL, journal)
    },
  }
}

export function isSame(one: StoredRecord | undefined, other: StoredRecord | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return Buffer.compare(packed(one), packed(other)) === 0
}

/** Orders the fields, so that equal records have equal bytes. */
function packed({ certificate, share, proofs, next = null }: StoredRecord): Buffer {
  const { serviceSignature, userSignature, selfTest } = proofs ?? {}
  const fields = [certificate, share, serviceSignature, userSignature, selfTest]
  return PACKER.pack([...fields, next?.certificate, next?.share])
}

const PACKER = new Packr({ useRecords: false })

/** Nothing is ever stored in a copy before its first data key. */
function fill(lost: Copy, from: Copy): void {
  const isLost = () => lost.dataKeys.getCount() === 0
  if (from.dataKeys.getCount() === 0 || !isLost()) return
  lost.root.transactionSync(() => {
    // Another thread may have filled it already.
    if (!isLost()) return
    for (const { key, value } of from.wallets.getRange()) void lost.wallets.put(key, value)
    for (const { key, value } of from.dataKeys.getRange()) {
      void lost.dataKeys.put(key, Buffer.from(value))
    }
  })
}

function wrappedKeys(main: Copy, copies: readonly Copy[]): WrappedKeys {
  const nameOf = (index: number, id: string) => `${String(index).padStart(6, '0')}:${id}`
  return {
    list() {
      return [...main.dataKeys.getRange()].map(({ key, value }) => ({
        id: key.slice(key.indexOf(':') + 1),
        wrapped: value,
      }))
    },
    addFirst(id, wrapped) {
      main.root.transactionSync(() => {
        const isFirst = main.dataKeys.getCount() === 0
        if (isFirst) void main.dataKeys.put(nameOf(0, id), Buffer.from(wrapped))
      })
      // Copies what the first copy holds now, even if another thread wrote it: copies never differ.
      for (const { root, dataKeys } of copies) {
        if (root === main.root) continue
        root.transactionSync(() => {
          for (const { key, value } of main.dataKeys.getRange()) {
            void dataKeys.put(key, Buffer.from(value))
          }
        })
      }
    },
    replaceAll(keys) {
      for (const { root, dataKeys } of copies) {
        root.transactionSync(() => {
          keys.forEach(({ id, wrapped }, index) => {
            void dataKeys.put(nameOf(index, id), Buffer.from(wrapped))
          })
        })
      }
    },
  }
}
