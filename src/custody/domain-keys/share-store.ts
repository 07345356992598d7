import { mkdirSync } from 'node:fs'
import { type Database, open, type RootDatabase } from 'lmdb'
import { LRUCache } from 'lru-cache'
import { concat, u32 } from '../protocol/bytes.js'
import { addressOf } from '../protocol/curve.js'
import { type Certificate, decodeCertificate, walletPoint } from '../protocol/keygen.js'
import { type DataKeys, openDataKeys, type WrappedKeys } from './data-keys.js'
import type { DomainLayout } from './layout.js'
import { readPrivateFile } from './private-file.js'

/**
 * One domain's shares of wallet keys. Every record is in two LMDB environments; a write returns
 * when both are on disk. A share is only ever in the clear in a Buffer that its user wipes.
 */
export interface ShareStore {
  readonly dataKeys: DataKeys
  /** The record of a wallet; null when there is none. */
  get(walletId: Uint8Array): WalletRecord | null
  /** Writes both copies, durable on return. @param share 32 bytes; the caller wipes it */
  putPending(certificate: Uint8Array, share: Uint8Array): void
  /** Marks the wallet's key as in use, durable on return. */
  activate(walletId: Uint8Array, proofs: WalletProofs): void
  /** Of every wallet, pending ones included. */
  walletIds(): Iterable<Uint8Array>
  /** @returns 32 bytes that the caller wipes */
  openShare(record: WalletRecord): Buffer
  close(): Promise<void>
}

/** What makes a wallet's address publishable. */
export interface WalletProofs {
  /** 64 bytes each, over the certificate. */
  readonly serviceSignature: Uint8Array
  readonly userSignature: Uint8Array
  /** 65 bytes by the wallet key itself. */
  readonly selfTest: Uint8Array
}

export interface WalletRecord {
  readonly certificate: Certificate
  readonly encodedCertificate: Uint8Array
  /** 33 bytes: public key of the wallet. */
  readonly point: Uint8Array
  /** 20 bytes. */
  readonly address: Uint8Array
  readonly sealedShare: Uint8Array
  /** Null while the key is being generated: nothing may be signed with it. */
  readonly proofs: WalletProofs | null
}

interface StoredRecord {
  readonly certificate: Uint8Array
  readonly share: Uint8Array
  readonly proofs: WalletProofs | null
}

interface Copy {
  readonly root: RootDatabase
  readonly wallets: Database<StoredRecord, Buffer>
  readonly dataKeys: Database<Uint8Array, string>
}

/** Records kept decoded; shares in them stay sealed. ~1 kB each. */
const CACHED_RECORDS_MAX = 20_000

/**
 * Databases of a shares environment; names are never reused.
 * 01: wallet id (16 bytes) → record. 02: sequence and id of a data key → wrapped key.
 */
const WALLETS = '01-wallets'
const DATA_KEYS = '02-data-keys'

/** @param domain part of the associated data of every sealed share */
export function openShareStore(domain: 'service' | 'user', layout: DomainLayout): ShareStore {
  const main = openCopy(layout.shares)
  const second = openCopy(layout.sharesCopy)
  const copies = [main, second]
  const dataKeys = openDataKeys(
    domain,
    readPrivateFile(layout.wrappingKey),
    wrappedKeys(main, copies),
  )
  const cache = new LRUCache<string, WalletRecord>({ max: CACHED_RECORDS_MAX })

  function write(walletId: Uint8Array, record: StoredRecord): void {
    const key = Buffer.from(walletId)
    for (const { root, wallets } of copies) {
      root.transactionSync(() => {
        void wallets.put(key, record)
      })
    }
    cache.delete(key.toString('hex'))
  }

  function associated(certificate: Certificate): Buffer {
    return concat(
      Buffer.from(`countersign/share/v1\0${domain}\0`, 'latin1'),
      certificate.walletId,
      u32(certificate.epoch),
    )
  }

  return {
    dataKeys,
    get(walletId) {
      const name = Buffer.from(walletId).toString('hex')
      const cached = cache.get(name)
      if (cached !== undefined) return cached
      const stored = main.wallets.get(Buffer.from(walletId))
      if (stored === undefined) return null
      const certificate = decodeCertificate(stored.certificate)
      const point = walletPoint(certificate)
      const record: WalletRecord = {
        certificate,
        encodedCertificate: stored.certificate,
        point,
        address: addressOf(point),
        sealedShare: stored.share,
        proofs: stored.proofs,
      }
      // A pending record may be finished by another thread, whose write this cache cannot see.
      if (record.proofs !== null) cache.set(name, record)
      return record
    },
    putPending(encoded, share) {
      const certificate = decodeCertificate(encoded)
      write(certificate.walletId, {
        certificate: encoded,
        share: dataKeys.seal(share, associated(certificate)),
        proofs: null,
      })
    },
    activate(walletId, proofs) {
      const stored = main.wallets.get(Buffer.from(walletId))
      if (stored === undefined) throw new Error('no share to activate')
      write(walletId, { ...stored, proofs })
    },
    walletIds: () => main.wallets.getKeys(),
    openShare(record) {
      return dataKeys.open(record.sealedShare, associated(record.certificate))
    },
    async close() {
      for (const { root } of copies) await root.close()
    },
  }
}

function openCopy(path: string): Copy {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const root = open({ path, overlappingSync: false, maxDbs: 8 })
  // Not in lmdb's types: options of the MessagePack encoder.
  const plain = { encoder: { useRecords: false } as never }
  return {
    root,
    wallets: root.openDB<StoredRecord, Buffer>({
      name: WALLETS,
      keyEncoding: 'binary',
      ...plain,
    }),
    dataKeys: root.openDB<Uint8Array, string>({ name: DATA_KEYS, encoding: 'binary' }),
  }
}

function wrappedKeys(main: Copy, copies: readonly Copy[]): WrappedKeys {
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
        if (isFirst) void main.dataKeys.put(`000000:${id}`, Buffer.from(wrapped))
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
  }
}
