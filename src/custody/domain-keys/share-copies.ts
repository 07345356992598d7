import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import { Packr } from 'msgpackr'
import { openLmdb } from '../../disk/lmdb-file.js'
import type { WrappedKeys } from './data-keys.js'
import type { DomainLayout } from './layout.js'

/**
 * Two LMDB environments that hold the same: wallet records and wrapped data keys. The first is
 * read; the second is what is left when the first is lost. One without data keys was lost, or was
 * never reached by a first start that ended amid it: it is made anew of the other when both are opened.
 */
export interface ShareCopies {
  get(walletId: Uint8Array): StoredRecord | undefined
  /**
   * Durable in both copies on return.
   * @param uncarried `yes`: marks it in the same transaction, until `markCarried`
   */
  put(walletId: Uint8Array, record: StoredRecord, uncarried: 'yes' | 'no'): void
  /** Durable in both copies on return. */
  remove(walletId: Uint8Array): void
  walletIds(): Iterable<Uint8Array>
  /** Marks every record, in one transaction. */
  markAll(): void
  /**
   * Takes the mark away. Where the record is another by now it is marked instead: of two that were put
   * elsewhere at once, by two threads, the older may have come last.
   */
  markCarried(walletId: Uint8Array, record: StoredRecord | undefined): void
  isUncarried(walletId: Uint8Array): boolean
  uncarried(limit: number): Uint8Array[]
  readonly dataKeys: WrappedKeys
  close(): Promise<void>
}

export interface StoredRecord {
  readonly certificate: Uint8Array
  readonly share: Uint8Array
  readonly proofs: WalletProofs | null
  /** Set while the shares are being refreshed: what takes the place of the above. */
  readonly next?: { readonly certificate: Uint8Array; readonly share: Uint8Array } | null
}

/** What makes a wallet's address publishable. */
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
  /** Of the first copy alone. */
  readonly uncarried: Database<true, Buffer>
  readonly dataKeys: Database<Uint8Array, string>
}

/**
 * Databases of a shares environment; names are never reused.
 * 01: wallet id (16 bytes) → record. 02: sequence and id of a data key → wrapped key. 03: wallet id →
 * true, where the record is yet to be put elsewhere (`carried-shares.ts`).
 */
const WALLETS = '01-wallets'
const DATA_KEYS = '02-data-keys'
const UNCARRIED = '03-uncarried'

/** @throws Error that names the file which is not readable */
export function openShareCopies(layout: Pick<DomainLayout, 'shares' | 'sharesCopy'>): ShareCopies {
  const main = openCopy(layout.shares)
  const second = openCopy(layout.sharesCopy)
  const copies = [main, second]
  fill(second, main)
  fill(main, second)

  function putIn(
    { root, wallets, uncarried }: Copy,
    walletId: Uint8Array,
    record: StoredRecord,
    isMarked = false,
  ): void {
    root.transactionSync(() => {
      void wallets.put(Buffer.from(walletId), record)
      if (isMarked) void uncarried.put(Buffer.from(walletId), true)
    })
  }

  return {
    get(walletId) {
      const key = Buffer.from(walletId)
      const record = main.wallets.get(key)
      // A crash between the two writes of `put` left the second copy behind: it is mended when
      // the record is next read.
      const raw = main.wallets.getBinary(key)
      if (record !== undefined && raw !== undefined) {
        const copy = second.wallets.getBinary(key)
        if (copy === undefined || Buffer.compare(copy, raw) !== 0) putIn(second, walletId, record)
      }
      return record
    },
    put(walletId, record, uncarried) {
      putIn(main, walletId, record, uncarried === 'yes')
      putIn(second, walletId, record)
    },
    remove(walletId) {
      for (const { root, wallets } of copies) {
        root.transactionSync(() => {
          void wallets.remove(Buffer.from(walletId))
        })
      }
    },
    walletIds: () => main.wallets.getKeys(),
    markAll() {
      main.root.transactionSync(() => {
        for (const walletId of main.wallets.getKeys()) void main.uncarried.put(walletId, true)
      })
    },
    markCarried(walletId, record) {
      const key = Buffer.from(walletId)
      main.root.transactionSync(() => {
        if (isSame(main.wallets.get(key), record)) void main.uncarried.remove(key)
        else void main.uncarried.put(key, true)
      })
    },
    isUncarried: (walletId) => main.uncarried.doesExist(Buffer.from(walletId)),
    uncarried: (limit) => [...main.uncarried.getKeys({ limit })],
    dataKeys: wrappedKeys(main, copies),
    async close() {
      for (const { root } of copies) await root.close()
    },
  }
}

function openCopy(path: string): Copy {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  try {
    // Durable on return: a share must be on disk before the other side is told so.
    const root = openLmdb({ path, overlappingSync: false, maxDbs: 8 })
    const plain = { encoder: { useRecords: false } }
    return {
      root,
      wallets: root.openDB<StoredRecord, Buffer>({
        name: WALLETS,
        keyEncoding: 'binary',
        ...plain,
      }),
      uncarried: root.openDB<true, Buffer>({ name: UNCARRIED, keyEncoding: 'binary', ...plain }),
      dataKeys: root.openDB<Uint8Array, string>({ name: DATA_KEYS, encoding: 'binary' }),
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${join(path, 'data.mdb')} is not a readable share store: ${reason}`, { cause })
  }
}

export function isSame(one: StoredRecord | undefined, other: StoredRecord | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return Buffer.compare(packed(one), packed(other)) === 0
}

/** Its fields in one order, whoever made it. */
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
    // Another thread may have done it meanwhile.
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
      // What the first copy holds now, which may be another thread's: copies never differ.
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
