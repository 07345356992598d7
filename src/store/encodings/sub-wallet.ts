import type { LaneMark, SubWallet, SubWalletHeader } from '../../domain/wallet.js'
import { listOf, named, optional, record, recordWithout, scalar } from './codec.js'
import { packedRecord, type Unsealed } from './sealing.js'

/**
 * A sub-wallet never changes, but its marks change with every commit of its actor. The sub-wallet
 * is therefore written once, and the marks are in a separate, denser space.
 */
const WALLET = record<SubWallet>({
  subWalletId: scalar,
  userId: scalar,
  name: scalar,
  address: scalar,
  epoch: scalar,
  createdAtMs: scalar,
})

const LANE = record<LaneMark>({
  chainId: scalar,
  nextNonce: scalar,
  ownFrom: optional(scalar),
})

type Spend = SubWalletHeader['spend'][number]

const COUNTERS = record<Spend['counters']>({
  day: scalar,
  dayMicros: scalar,
  month: scalar,
  monthMicros: scalar,
  reservedMicros: scalar,
})

const SPEND = record<Spend>({ lineageId: scalar, counters: COUNTERS })

const MARKS = recordWithout<SubWalletHeader, 'wallet'>('wallet', {
  lanes: listOf(LANE),
  spend: listOf(SPEND),
  open: named,
  sponsored: optional(named),
  limitNotices: optional(named),
})

/** Stands for the wallet when only the marks are read. */
const NOBODYS = {} as SubWallet

/** @returns a value to put in the space `subWallets` */
export function encodeSubWallet({ wallet }: SubWalletHeader): Unsealed {
  return packedRecord(WALLET.encode(wallet, null))
}

/** @returns a value to put in the space `subWalletMarks` */
export function encodeSubWalletMarks(header: SubWalletHeader): Unsealed {
  return packedRecord(MARKS.encode(header))
}

/** @param stored what `subWallets` holds */
export function decodeSubWallet(stored: unknown): SubWallet {
  return WALLET.decode(stored, null)
}

/** @param marks what `subWalletMarks` holds */
export function decodeSpend(marks: unknown): SubWalletHeader['spend'] {
  return MARKS.decode(marks, NOBODYS).spend
}

/**
 * @param stored what `subWallets` holds
 * @param marks what `subWalletMarks` holds
 */
export function decodeHeader(stored: unknown, marks: unknown): SubWalletHeader {
  return MARKS.decode(marks, decodeSubWallet(stored))
}
