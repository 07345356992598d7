import type { SpendCounters } from '../../domain/spend.js'
import type {
  LaneMark,
  LimitMark,
  SponsoredMarks,
  SubWallet,
  SubWalletHeader,
} from '../../domain/wallet.js'
import { packedRecord, type Unsealed } from './sealing.js'

/**
 * A sub-wallet never changes, and its marks do with every commit of its actor. It is put once,
 * and its marks in a space of their own, which is all the denser.
 */
type Stored = readonly [
  wallet: StoredWallet,
  /** Null since schema 12: they are in their own space from the first. */
  marks: StoredMarks | null,
]

type StoredWallet = readonly [
  subWalletId: SubWallet['subWalletId'],
  userId: SubWallet['userId'],
  name: SubWallet['name'],
  address: SubWallet['address'],
  epoch: SubWallet['epoch'],
  createdAtMs: SubWallet['createdAtMs'],
]

type StoredMarks = readonly [
  lanes: readonly StoredLane[],
  spend: readonly StoredSpend[],
  sponsored: SponsoredMarks | null,
  limitsTold: readonly LimitMark[] | null,
  /** Not there up to schema 4. */
  open?: SubWalletHeader['open'] | null,
]

type StoredLane = readonly [
  chainId: LaneMark['chainId'],
  nextNonce: LaneMark['nextNonce'],
  /** Not there up to schema 10. */
  ownFrom?: number,
]

type StoredSpend = readonly [
  lineageId: SubWalletHeader['spend'][number]['lineageId'],
  day: SpendCounters['day'],
  dayMicros: SpendCounters['dayMicros'],
  month: SpendCounters['month'],
  monthMicros: SpendCounters['monthMicros'],
  reservedMicros: SpendCounters['reservedMicros'],
]

/** @returns a value to put in the space `subWallets` */
export function encodeSubWallet(header: SubWalletHeader): Unsealed {
  const { subWalletId, userId, name, address, epoch, createdAtMs } = header.wallet
  return packedRecord([[subWalletId, userId, name, address, epoch, createdAtMs], null])
}

/** @returns a value to put in the space `subWalletMarks` */
export function encodeSubWalletMarks(header: SubWalletHeader): Unsealed {
  return packedRecord(marksOf(header))
}

/** @param stored what `subWallets` holds */
export function decodeSubWallet(stored: unknown): SubWallet {
  if (!Array.isArray(stored)) return (stored as SubWalletHeader).wallet
  const [subWalletId, userId, name, address, epoch, createdAtMs] = (stored as unknown as Stored)[0]
  return { subWalletId, userId, name, address, epoch, createdAtMs }
}

/** @returns whether there is a record of its marks; up to schema 11 only if they changed */
export function keepsMarksApart(stored: unknown): boolean {
  return Array.isArray(stored) && stored[1] === null
}

/**
 * @param stored what `subWallets` holds; a record of schema 3 or before is a header already
 * @param later what `subWalletMarks` holds, if anything
 */
export function decodeHeader(stored: unknown, later: unknown): SubWalletHeader {
  const marks = later ?? (Array.isArray(stored) ? (stored as unknown as Stored)[1] : null)
  if (marks === null) return { ...(stored as Omit<SubWalletHeader, 'open'>), open: [] }
  const [lanes, spend, sponsored, limitsTold, open] = marks as StoredMarks
  return {
    wallet: decodeSubWallet(stored),
    lanes: lanes.map(laneOf),
    spend: spend.map(spendOf),
    open: open ?? [],
    ...(sponsored === null ? {} : { sponsored }),
    ...(limitsTold === null ? {} : { limitsTold }),
  }
}

function marksOf(header: SubWalletHeader): StoredMarks {
  const { lanes, spend, open, sponsored = null, limitsTold = null } = header
  return [lanes.map(storedLane), spend.map(storedSpend), sponsored, limitsTold, open]
}

function storedLane({ chainId, nextNonce, ownFrom }: LaneMark): StoredLane {
  return ownFrom === undefined ? [chainId, nextNonce] : [chainId, nextNonce, ownFrom]
}

function laneOf([chainId, nextNonce, ownFrom]: StoredLane): LaneMark {
  return ownFrom === undefined ? { chainId, nextNonce } : { chainId, nextNonce, ownFrom }
}

function storedSpend({ lineageId, counters }: SubWalletHeader['spend'][number]): StoredSpend {
  const { day, dayMicros, month, monthMicros, reservedMicros } = counters
  return [lineageId, day, dayMicros, month, monthMicros, reservedMicros]
}

function spendOf(stored: StoredSpend): SubWalletHeader['spend'][number] {
  const [lineageId, day, dayMicros, month, monthMicros, reservedMicros] = stored
  return { lineageId, counters: { day, dayMicros, month, monthMicros, reservedMicros } }
}
