import { sameBytes } from '../../quorum-protocol/bytes.js'
import { decodeCertificate } from '../../quorum-protocol/keygen.js'
import type { JournalLeadership } from '../../quorum-protocol/service-boot.js'
import { isSame, type StoredRecord } from './share-copies.js'

/**
 * Copies of a domain's shares outside its machine: in a journal, which has one leader at a time.
 * They are stored sealed, as on its disk.
 *
 * A share on disk that the journal lacks has a mark, which names the leader that made it. The
 * identity provider puts no key to use, and changes over to no share, before the journal has its
 * record, and it approves nothing more for a former leader. So a former leader's mark never stands
 * for a share in use.
 */
export interface CarriedShares {
  /** Returns the leadership under which this process writes. */
  leadership(): JournalLeadership
  /** Resolves once the record is stored durably, in place of an earlier one. */
  put(walletId: Uint8Array, record: StoredRecord): Promise<void>
  /** Undefined when the journal has no record of the wallet. */
  get(walletId: Uint8Array): StoredRecord | undefined
  /** Returns any record; undefined when the journal has no records. */
  first(): StoredRecord | undefined
}

export function markOf({ journal, epoch }: JournalLeadership): string {
  return `${journal}/${epoch}`
}

/**
 * Tells whether a record should replace the one on disk. An epoch never goes back, and neither a
 * key in use nor its next share is replaced by an older one, because the other domain may have
 * changed over.
 * @param isOwn true when the present leader made the one on disk and has not copied it yet
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
 * Tells whether only the identity provider can decide which of two keys in use counts: an operator
 * restored one of them, or it is older than that.
 * @param isPutBack true when the one on disk was restored: it lacks a next share, to which the
 * other domain may have changed over
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

/** True when the record holds that certificate, in use or as the next one. */
export function has({ certificate, next = null }: StoredRecord, wanted: Uint8Array): boolean {
  if (sameBytes(certificate, wanted)) return true
  return next !== null && sameBytes(next.certificate, wanted)
}

function epochOf({ certificate }: StoredRecord): number {
  return decodeCertificate(certificate).epoch
}
