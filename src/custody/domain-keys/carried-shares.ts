import { sameBytes } from '../../quorum-protocol/bytes.js'
import { decodeCertificate } from '../../quorum-protocol/keygen.js'
import type { JournalOwner } from '../../quorum-protocol/service-boot.js'
import { isSame, type StoredRecord } from './share-copies.js'

/**
 * Where a domain's shares are besides, so that they outlive its machine: in a journal, which has one owner
 * at a time. They go there sealed, as they are on its disk.
 *
 * What is on a disk and not there yet has a mark, which names the owner that made it. The user side puts
 * no key to use, and changes over to no share, before the record that has it is there; and it approves
 * nothing more for an earlier owner. So a mark of an earlier owner is of nothing that was put to use.
 */
export interface CarriedShares {
  /** As which owner this process writes. */
  owner(): JournalOwner
  /** Resolves once the record is there durably, in place of an earlier one. */
  put(walletId: Uint8Array, record: StoredRecord): Promise<void>
  /** Undefined where there is none. */
  get(walletId: Uint8Array): StoredRecord | undefined
  /** One of them; undefined where there is none at all. */
  first(): StoredRecord | undefined
}

export function markOf({ journal, epoch }: JournalOwner): string {
  return `${journal}/${epoch}`
}

/**
 * Whether a record is to take the place of the one on disk. An epoch is never taken back, nor is a key
 * that was put to use, nor the next share of one, which the other side may have changed over to already.
 * @param isOwn the one on disk was made by the present owner, and is yet to be carried
 */
export function isBetter(
  theirs: StoredRecord,
  ours: StoredRecord | undefined,
  isOwn: boolean,
): boolean {
  if (ours === undefined) return true
  if (isSame(ours, theirs)) return false
  const [isInUse, isOursInUse] = [theirs.proofs !== null, ours.proofs !== null]
  if (isInUse !== isOursInUse) return isInUse
  const [epoch, ourEpoch] = [epochOf(theirs), epochOf(ours)]
  if (isInUse && epoch !== ourEpoch) return epoch > ourEpoch
  const [next, ourNext] = [theirs.next ?? null, ours.next ?? null]
  return !isOwn && (next !== null || ourNext === null)
}

/**
 * Whether only the user side can say which of two keys in use counts: one of them was put back by an
 * operator, or is of a time before that.
 * @param isPutBack ours was: it drops a next share, which the other side may have changed over to
 */
export function isDisputed(
  theirs: StoredRecord | undefined,
  ours: StoredRecord,
  isPutBack: boolean,
): boolean {
  if (theirs === undefined || theirs.proofs === null) return false
  const next = theirs.next ?? null
  if (isPutBack && next !== null && !has(ours, next.certificate)) return true
  return !has(theirs, ours.certificate)
}

/** As what is in use, or as what the other side may have changed over to. */
export function has({ certificate, next = null }: StoredRecord, wanted: Uint8Array): boolean {
  if (sameBytes(certificate, wanted)) return true
  return next !== null && sameBytes(next.certificate, wanted)
}

function epochOf({ certificate }: StoredRecord): number {
  return decodeCertificate(certificate).epoch
}
