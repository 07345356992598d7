import { fnv1a } from '../../domain/fnv1a.js'
import { ID_PREFIX, type TxId, ulidBody, ulidBytes } from '../../domain/ids.js'
import { isFinal, type Transaction } from '../../domain/transaction.js'
import { addressesIn, hashesOf, type TransactionFilter } from '../../domain/transaction-filter.js'

/**
 * A segment is up to SEGMENT_SIZE_MAX consecutive transactions of a user, with the texts by which
 * they are found. It is made once, long after they came in, so that a send writes no index: each
 * part is one record, and a thousand sends cost nine.
 *
 * || part | bytes |
 * ||---|---|
 * || ids | 16 for each id, oldest first |
 * || others | for each pair, sorted by token: 4 for the token, little endian; then for each pair 2
 * for its place in `ids` |
 *
 * A token is 32 bits of a text. Two texts may have the same token, and a transaction may have
 * changed since, so matches are compared with their records.
 */
export const SEGMENT_SIZE_MAX = 1_024

const POSTING_PARTS = ['wallet', 'key', 'chain', 'kind', 'status', 'hash', 'address'] as const
export type PostingPart = (typeof POSTING_PARTS)[number]
export type SegmentPart = PostingPart | 'ids'

/**
 * Marks a transaction that was not final: its status, hashes and calldata may have changed since.
 */
const OPEN = 'open'

const ID_BYTES = 16
const TIME_BYTES = 6
const TOKEN_BYTES = 4
const PLACE_BYTES = 2
const PAIR_BYTES = TOKEN_BYTES + PLACE_BYTES

function textsOf(tx: Transaction): Readonly<Record<PostingPart, Iterable<string>>> {
  const isOver = isFinal(tx.status)
  return {
    wallet: [tx.subWalletId],
    key: [tx.keyId],
    chain: [String(tx.call.chainId)],
    kind: [tx.kind],
    status: [isOver ? tx.status : OPEN],
    hash: isOver ? hashesOf(tx) : [...hashesOf(tx), OPEN],
    address: isOver ? addressesIn(tx) : [...addressesIn(tx), OPEN],
  }
}

/** What a filter looks for: in each part, one of these texts. */
export function wantedTexts(
  filter: TransactionFilter,
): readonly (readonly [PostingPart, readonly string[]])[] {
  const { subWalletId, keyId, chainId, kind, status, txHash, address } = filter
  const wanted: (readonly [PostingPart, readonly string[]])[] = []
  // The most selective parts come first, because each part only narrows the result of the one
  // before.
  if (txHash !== undefined) wanted.push(['hash', [txHash, OPEN]])
  if (keyId !== undefined) wanted.push(['key', [keyId]])
  if (address !== undefined) wanted.push(['address', [address, OPEN]])
  if (subWalletId !== undefined) wanted.push(['wallet', [subWalletId]])
  if (kind !== undefined) wanted.push(['kind', [kind]])
  if (chainId !== undefined) wanted.push(['chain', [String(chainId)]])
  if (status !== undefined) wanted.push(['status', isFinal(status) ? [status, OPEN] : [OPEN]])
  return wanted
}

/** @param txs oldest first; undefined for a damaged record, which no filter finds */
export function encodeSegment(
  ids: readonly TxId[],
  txs: readonly (Transaction | undefined)[],
): Readonly<Record<SegmentPart, Uint8Array>> {
  const pairs = Object.fromEntries(POSTING_PARTS.map((part) => [part, []])) as unknown as Record<
    PostingPart,
    (readonly [token: number, place: number])[]
  >
  for (const [place, tx] of txs.entries()) {
    if (tx === undefined) continue
    const texts = textsOf(tx)
    for (const part of POSTING_PARTS) {
      for (const text of texts[part]) pairs[part].push([fnv1a(text), place])
    }
  }
  const parts = POSTING_PARTS.map((part) => [part, encodePairs(pairs[part])])
  return { ...Object.fromEntries(parts), ids: Buffer.concat(ids.map(ulidBytes)) }
}

function encodePairs(pairs: (readonly [token: number, place: number])[]): Buffer {
  pairs.sort(([a, x], [b, y]) => a - b || x - y)
  const bytes = Buffer.alloc(pairs.length * PAIR_BYTES)
  const placesAt = pairs.length * TOKEN_BYTES
  for (const [index, [token, place]] of pairs.entries()) {
    bytes.writeUInt32LE(token, index * TOKEN_BYTES)
    bytes.writeUInt16LE(place, placesAt + index * PLACE_BYTES)
  }
  return bytes
}

/** Adds the places at which one of `texts` occurs. */
export function addPlaces(part: Buffer, texts: readonly string[], places: Set<number>): void {
  const count = part.length / PAIR_BYTES
  const placesAt = count * TOKEN_BYTES
  for (const text of texts) {
    const token = fnv1a(text)
    for (let index = firstFrom(part, count, token); index < count; index++) {
      if (part.readUInt32LE(index * TOKEN_BYTES) !== token) break
      places.add(part.readUInt16LE(placesAt + index * PLACE_BYTES))
    }
  }
}

function firstFrom(part: Buffer, count: number, token: number): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (part.readUInt32LE(middle * TOKEN_BYTES) < token) low = middle + 1
    else high = middle
  }
  return low
}

export function idAtPlace(ids: Buffer, place: number): TxId {
  const at = place * ID_BYTES
  const timeMs = ids.readUIntBE(at, TIME_BYTES)
  const entropy = ids.subarray(at + TIME_BYTES, at + ID_BYTES)
  return (ID_PREFIX.tx + ulidBody(timeMs, entropy)) as TxId
}

export function countOf(ids: Buffer): number {
  return ids.length / ID_BYTES
}
