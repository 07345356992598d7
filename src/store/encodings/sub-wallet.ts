import type { SpendCounters } from '../../domain/spend.js'
import type {
  LaneMark,
  LimitMark,
  SponsoredMarks,
  SubWallet,
  SubWalletHeader,
} from '../../domain/wallet.js'
import { type Binary, packed, packedPair } from './packing.js'

/**
 * A sub-wallet is written with every commit of its actor, and its own record never changes: it is
 * stored as a list of two, and the bytes of the first are kept.
 */
type Stored = readonly [wallet: StoredWallet, marks: StoredMarks]

type StoredWallet = readonly [
  subWalletId: SubWallet['subWalletId'],
  userId: SubWallet['userId'],
  name: SubWallet['name'],
  address: SubWallet['address'],
  epoch: SubWallet['epoch'],
  createdAtMs: SubWallet['createdAtMs'],
]

type StoredMarks = readonly [
  lanes: readonly (readonly [chainId: LaneMark['chainId'], nextNonce: LaneMark['nextNonce']])[],
  spend: readonly StoredSpend[],
  sponsored: SponsoredMarks | null,
  limitsTold: readonly LimitMark[] | null,
  /** Not there up to schema 4. */
  open?: SubWalletHeader['open'] | null,
]

type StoredSpend = readonly [
  lineageId: SubWalletHeader['spend'][number]['lineageId'],
  day: SpendCounters['day'],
  dayMicros: SpendCounters['dayMicros'],
  month: SpendCounters['month'],
  monthMicros: SpendCounters['monthMicros'],
  reservedMicros: SpendCounters['reservedMicros'],
]

const walletBytes = new WeakMap<SubWallet, Uint8Array>()

/** @returns a value to put in the space `subWallets` */
export function encodeSubWallet(header: SubWalletHeader): Binary {
  const { wallet, lanes, spend, open, sponsored = null, limitsTold = null } = header
  const marks: StoredMarks = [
    lanes.map(({ chainId, nextNonce }) => [chainId, nextNonce] as const),
    spend.map(storedSpend),
    sponsored,
    limitsTold,
    open,
  ]
  return packedPair(bytesOf(wallet), packed(marks))
}

/** @param stored what the space holds; a record of schema 3 or before is a header already */
export function decodeSubWallet(stored: unknown): SubWalletHeader {
  if (!Array.isArray(stored)) return { ...(stored as Omit<SubWalletHeader, 'open'>), open: [] }
  const [wallet, marks] = stored as unknown as Stored
  const [subWalletId, userId, name, address, epoch, createdAtMs] = wallet
  const [lanes, spend, sponsored, limitsTold, open] = marks
  return {
    wallet: { subWalletId, userId, name, address, epoch, createdAtMs },
    lanes: lanes.map(([chainId, nextNonce]) => ({ chainId, nextNonce })),
    spend: spend.map(spendOf),
    open: open ?? [],
    ...(sponsored === null ? {} : { sponsored }),
    ...(limitsTold === null ? {} : { limitsTold }),
  }
}

function bytesOf(wallet: SubWallet): Uint8Array {
  const known = walletBytes.get(wallet)
  if (known !== undefined) return known
  const { subWalletId, userId, name, address, epoch, createdAtMs } = wallet
  const stored: StoredWallet = [subWalletId, userId, name, address, epoch, createdAtMs]
  // A copy: what is packed lies in a block that many share, and this is kept for long.
  const bytes = Uint8Array.from(packed(stored))
  walletBytes.set(wallet, bytes)
  return bytes
}

function storedSpend({ lineageId, counters }: SubWalletHeader['spend'][number]): StoredSpend {
  const { day, dayMicros, month, monthMicros, reservedMicros } = counters
  return [lineageId, day, dayMicros, month, monthMicros, reservedMicros]
}

function spendOf(stored: StoredSpend): SubWalletHeader['spend'][number] {
  const [lineageId, day, dayMicros, month, monthMicros, reservedMicros] = stored
  return { lineageId, counters: { day, dayMicros, month, monthMicros, reservedMicros } }
}
