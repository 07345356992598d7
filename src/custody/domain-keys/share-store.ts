import { LRUCache } from 'lru-cache'
import { concat, sameBytes, u32, viewOf } from '../../quorum-protocol/bytes.js'
import { addressOf } from '../../quorum-protocol/curve.js'
import { type Certificate, decodeCertificate, walletPoint } from '../../quorum-protocol/keygen.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { type CarriedShares, has, isBetter, isDisputed, markOf } from './carried-shares.js'
import { checkShare } from './check-share.js'
import { type DataKeys, openDataKeys } from './data-keys.js'
import type { DomainLayout } from './layout.js'
import { createMaskedShares } from './masked-shares.js'
import {
  BEFORE,
  isSame,
  openShareCopies,
  RESTORED,
  type ShareMarks,
  type StoredRecord,
  type WalletProofs,
} from './share-copies.js'
import type { SealedShare, WalletRecord } from './wallet-record.js'

/**
 * One domain's shares of wallet keys. Every record is in two LMDB environments; a write returns
 * when both are on disk. A share is only ever in the clear in a Buffer that its user wipes.
 */
export interface ShareStore {
  readonly dataKeys: DataKeys
  /** Returns a wallet's record; null without one. */
  get(walletId: Uint8Array): WalletRecord | null
  /**
   * Writes both copies, durable on return.
   * @param share 32 bytes; the caller wipes it
   */
  putPending(certificate: Uint8Array, share: Uint8Array): void
  /**
   * Marks the wallet's key as in use, durable on return.
   * @param certificate the certificate that the proofs cover
   * @throws Refusal CONFLICT when another pending key has replaced this one
   */
  activate(certificate: Uint8Array, proofs: WalletProofs): void
  /**
   * Stores a share of the next epoch beside the one in use, replacing any pending one; durable on
   * return.
   * @param share 32 bytes; the caller wipes it
   */
  putNext(certificate: Uint8Array, share: Uint8Array): void
  /**
   * Replaces the epoch in use with the next one, whose predecessor's share is then gone; durable on
   * return.
   * @throws Refusal CONFLICT as above
   */
  activateNext(certificate: Uint8Array, proofs: WalletProofs): void
  /** Removes a pending first key or next epoch's share, durable on return. What is in use stays. */
  dropWaiting(walletId: Uint8Array): void
  /** Reads the record again: another thread or process may have refreshed it. */
  forget(walletId: Uint8Array): void
  /**
   * Resolves once `elsewhere` holds the present record of the wallet; at once when there is no such
   * place, or nothing has changed.
   * @param certified the certificate that the identity provider uses; null when it was not asked
   * @returns false, with nothing done, when it has to be asked, or when neither record belongs to
   * it
   */
  carry(walletId: Uint8Array, certified?: Uint8Array | null): Promise<boolean>
  /** @throws Refusal CONFLICT when another key has replaced the pending one */
  requireWaiting(certificate: Uint8Array): void
  /** @throws Error when no record in `elsewhere` can be opened here */
  requireDataKey(): void
  isUncarried(walletId: Uint8Array): boolean
  /** Returns wallets whose record has yet to be copied. */
  uncarried(limit: number, after?: Uint8Array): readonly Uint8Array[]
  /**
   * The marks that `carry` uses, as do commands that copy all records to a journal or restore them.
   */
  readonly marks: ShareMarks
  /**
   * Copies the record in `elsewhere` here when it is better, because another machine made it.
   * Durable on return.
   * @param certified the certificate that the identity provider uses, which decides
   * @returns whether the record changed
   * @throws Error when that record does not belong to this domain
   */
  adopt(walletId: Uint8Array, certified?: Uint8Array | null): boolean
  /** Returns the id of every wallet, including pending ones. */
  walletIds(): Iterable<Uint8Array>
  /** @returns 32 bytes that the caller wipes */
  openShare(record: SealedShare): Buffer
  /**
   * Writes the 32 bytes to memory that the caller wipes; used for each signature.
   * @throws Error as `openShare`
   */
  openShareInto(record: SealedShare, target: Uint8Array, at: number): void
  /**
   * Cheap once the share has been opened.
   * @throws Error when the share cannot be opened
   */
  requireShare(record: SealedShare): void
  close(): Promise<void>
}

/** The bound of decoded records in memory, about 1 kB each. Shares in them stay sealed. */
const CACHED_RECORDS_MAX = 20_000

/**
 * @param domain part of the associated data of every sealed share
 * @param wrappingKeys the result of `readWrappingKeys`; wiped here
 * @param elsewhere null when only this machine has the shares
 * @throws Error that names the store and the reason
 */
export function openShareStore(
  domain: 'service' | 'user',
  layout: Pick<DomainLayout, 'shares' | 'sharesCopy'>,
  wrappingKeys: readonly Buffer[],
  elsewhere: CarriedShares | null = null,
): ShareStore {
  const copies = openShareCopies(layout)
  if (copies.dataKeys.list().length === 0 && elsewhere?.first() !== undefined) {
    throw withoutDataKey(layout)
  }
  const dataKeys = openStoredKeys(domain, layout.shares, wrappingKeys, copies)
  const masked = createMaskedShares()
  const cache = new LRUCache<string, WalletRecord>({
    max: CACHED_RECORDS_MAX,
    dispose: (record) => masked.wipe(record),
  })

  function write(walletId: Uint8Array, record: StoredRecord): void {
    copies.put(walletId, record, markFor(walletId))
    cache.delete(nameOf(walletId))
  }

  function markFor(walletId: Uint8Array): string | null {
    const { marks } = copies
    // A record written without a journal has yet to be copied to it.
    if (elsewhere === null) return (marks.levelWith ?? '') === '' ? null : BEFORE
    return marks.of(walletId) === RESTORED ? RESTORED : markOf(elsewhere.leadership())
  }

  function adopt(walletId: Uint8Array, certified: Uint8Array | null = null): boolean {
    const theirs = elsewhere?.get(walletId)
    if (theirs === undefined || elsewhere === null) return false
    const [ours, mark] = [copies.get(walletId), copies.marks.of(walletId)]
    const [isTheirs, isOurs] = [theirs, ours].map(
      (record) => certified !== null && record !== undefined && has(record, certified),
    )
    const isOwn = mark === markOf(elsewhere.leadership())
    const isToTake =
      certified !== null && isTheirs !== isOurs
        ? isTheirs === true
        : mark !== RESTORED && isBetter(theirs, ours, isOwn)
    if (!isToTake) return false
    checkShare(domain, walletId, decode(theirs), openShare)
    copies.put(walletId, theirs, null)
    cache.delete(nameOf(walletId))
    return true
  }

  function stored(walletId: Uint8Array): StoredRecord | undefined {
    const own = copies.get(walletId)
    if (elsewhere === null || (own !== undefined && own.proofs !== null)) return own
    return adopt(walletId) ? copies.get(walletId) : own
  }

  const context = Buffer.from(`countersign/share/v1\0${domain}\0`, 'latin1')

  function associatedData(certificate: Certificate): Buffer {
    return concat(context, certificate.walletId, u32(certificate.epoch))
  }

  function seal(certificate: Certificate, share: Uint8Array): Buffer {
    return dataKeys.seal(share, associatedData(certificate))
  }

  function openShare(record: SealedShare): Buffer {
    return dataKeys.open(record.sealedShare, associatedData(record.certificate))
  }

  return {
    dataKeys,
    get(walletId) {
      const name = nameOf(walletId)
      const cached = cache.get(name)
      if (cached !== undefined) return cached
      const found = stored(walletId)
      if (found === undefined) return null
      const record = decode(found)
      // Another thread may finish a pending record, and this cache would not see its write.
      if (record.proofs !== null && record.next === null) cache.set(name, record)
      return record
    },
    putPending(encoded, share) {
      const certificate = decodeCertificate(encoded)
      const sealed = seal(certificate, share)
      write(certificate.walletId, { certificate: encoded, share: sealed, proofs: null })
    },
    activate(encoded, proofs) {
      const { walletId } = decodeCertificate(encoded)
      const stored = copies.get(walletId)
      write(walletId, { ...requireOf(encoded, stored), proofs })
    },
    putNext(encoded, share) {
      const certificate = decodeCertificate(encoded)
      const stored = copies.get(certificate.walletId)
      if (stored === undefined || stored.proofs === null) throw new Error('no share to refresh')
      const next = { certificate: encoded, share: seal(certificate, share) }
      write(certificate.walletId, { ...stored, next })
    },
    activateNext(encoded, proofs) {
      const { walletId } = decodeCertificate(encoded)
      const stored = copies.get(walletId)
      // When a change is requested twice, the first request has already been applied.
      const isInUse = stored !== undefined && sameBytes(stored.certificate, encoded)
      if (!isInUse) write(walletId, { ...requireOf(encoded, stored?.next), proofs })
    },
    dropWaiting(walletId) {
      const stored = copies.get(walletId)
      if (stored === undefined) return
      if (stored.proofs === null) copies.remove(walletId)
      else if ((stored.next ?? null) !== null) write(walletId, { ...stored, next: null })
    },
    forget: (walletId) => void cache.delete(nameOf(walletId)),
    async carry(walletId, certified = null) {
      const { marks } = copies
      if (elsewhere === null || marks.of(walletId) === undefined) return true
      // Never overwrites what another leader has put to use.
      if (adopt(walletId, certified)) return true
      const [record, theirs] = [copies.get(walletId), elsewhere.get(walletId)]
      const isPutBack = marks.of(walletId) === RESTORED
      if (record !== undefined && isDisputed(theirs, record, isPutBack)) {
        if (certified === null || !has(record, certified)) return false
      }
      // After a removal, the journal's record stays; it was never put to use.
      const isThere = record === undefined || isSame(theirs, record)
      if (!isThere) await elsewhere.put(walletId, record)
      await marks.settle(walletId, record, markOf(elsewhere.leadership()))
      return true
    },
    requireWaiting(certificate) {
      const { walletId } = decodeCertificate(certificate)
      const stored = copies.get(walletId)
      requireOf(certificate, stored?.proofs === null ? stored : stored?.next)
    },
    requireDataKey() {
      const first = elsewhere?.first()
      if (first !== undefined && !dataKeys.has(first.share)) throw withoutDataKey(layout)
    },
    isUncarried: (walletId) => copies.marks.of(walletId) !== undefined,
    uncarried: (limit, after) => copies.marks.list(limit, after),
    marks: copies.marks,
    adopt,
    walletIds: () => copies.walletIds(),
    openShare,
    openShareInto(record, target, at) {
      if (masked.open(record, target, at)) return
      const share = openShare(record)
      target.set(share, at)
      masked.keep(record, share)
      share.fill(0)
    },
    requireShare(record) {
      if (masked.has(record)) return
      const share = openShare(record)
      masked.keep(record, share)
      share.fill(0)
    },
    close: () => copies.close(),
  }
}

function withoutDataKey({ shares }: Pick<DomainLayout, 'shares'>): Error {
  return new Error(
    `${shares} does not contain the data key that seals the shares in the journal: restore this folder from another machine's home or from a backup`,
  )
}

function openStoredKeys(
  domain: string,
  path: string,
  wrappingKeys: readonly Buffer[],
  copies: ReturnType<typeof openShareCopies>,
): DataKeys {
  try {
    return openDataKeys(domain, wrappingKeys, copies.dataKeys)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${path}: ${reason}`, { cause })
  }
}

/** Proofs of one key never make another one usable, whose share may exist nowhere else. */
function requireOf<Stored extends { readonly certificate: Uint8Array }>(
  certificate: Uint8Array,
  stored: Stored | undefined | null,
): Stored {
  if (stored === undefined || stored === null || !sameBytes(stored.certificate, certificate)) {
    throw new Refusal('CONFLICT', 'another key has taken the place of this one')
  }
  return stored
}

function decode(stored: StoredRecord): WalletRecord {
  const certificate = decodeCertificate(stored.certificate)
  const point = walletPoint(certificate)
  const next = stored.next ?? null
  return {
    certificate,
    encodedCertificate: stored.certificate,
    point,
    address: addressOf(point),
    sealedShare: stored.share,
    proofs: stored.proofs,
    next:
      next === null
        ? null
        : {
            certificate: decodeCertificate(next.certificate),
            encodedCertificate: next.certificate,
            sealedShare: next.share,
          },
  }
}

function nameOf(walletId: Uint8Array): string {
  return viewOf(walletId).toString('latin1')
}
