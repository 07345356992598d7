import { NATIVE_DECIMALS } from '../../src/domain/chains.js'
import type { Hex } from '../../src/domain/ids.js'
import { valueUsdMicros } from '../../src/domain/money.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { Reader } from '../../src/store/reader.js'
import type { Landed } from './chain.js'
import type { ChainWorlds } from './chain-world.js'
import { lower } from './signatures.js'

/** What became of transactions, by the chain. */

export function landings(
  { attempts, call: { chainId } }: Pick<Transaction, 'attempts' | 'call'>,
  chains: ChainWorlds,
): Landed[] {
  const chain = chains.get(chainId)?.chain
  return attempts.flatMap(({ txHash }) => chain?.landing(txHash) ?? [])
}

/** Of a call that did something on chain: what its owner wanted, not a cancellation. */
export function effectsOf(tx: Transaction, reader: Reader, chains: ChainWorlds): Landed[] {
  if (!isSponsored(tx.kind)) {
    // What closes a gap is a call of the wallet to itself; of others that is their cancellation.
    return landings(tx, chains).filter(({ tx: on }) => isFiller(tx) || on.to !== on.from)
  }
  const gas = reader.gas.transaction(tx.txId)
  return gas === undefined
    ? []
    : landings(gas.tx, chains).filter(({ executed }) => executed !== null)
}

/** A call of the wallet to itself closes a gap; what it costs is paid for past any cap. */
export function isFiller({ call, from }: Pick<Transaction, 'call' | 'from'>): boolean {
  return lower(call.to) === lower(from)
}

/**
 * All of them, by the chain. The cancellation of a call, which no node took, and what then closes the
 * gap are the same bytes where fees are: they land once, and count for what is told of as mined. Where
 * that is both, each at a nonce that a reorg gave back to the two of them, their gas counts twice.
 */
export function spentTogether(txs: readonly Transaction[], chains: ChainWorlds): bigint {
  const counted = new Set<Hex>()
  let spent = 0n
  for (const tx of [...txs].sort((a, b) => Number(a.mined === null) - Number(b.mined === null))) {
    const others = tx.attempts.filter(
      ({ txHash }) => txHash === tx.mined?.txHash || !counted.has(txHash),
    )
    spent += spentOf({ ...tx, attempts: others }, chains)
    for (const { txHash } of others) counted.add(txHash)
  }
  return spent
}

/** What it moved, and the gas that the wallet itself paid. */
function spentOf(tx: Transaction, chains: ChainWorlds): bigint {
  if (isSponsored(tx.kind)) return tx.status === 'confirmed' ? tx.valuation.valueMicros : 0n
  return landings(tx, chains).reduce((sum, landed) => sum + costOf(tx, landed), 0n)
}

/**
 * As far as a cap can be held: what was final had its price, and what it left of the cap others may
 * have spent before a reorg took it back, to land for another, or to succeed where it had failed. A
 * cancellation may cost more than the call that it ends: a lane must be able to move.
 */
export function spentWithinCap(tx: Transaction, chains: ChainWorlds): bigint {
  const chain = chains.get(tx.call.chainId)?.chain
  const before = tx.attempts.flatMap(({ txHash }) => chain?.takenBack(txHash) ?? [])
  const spent = spentOf(tx, chains)
  const { micros } = tx.reservation
  const isCancelled = landings(tx, chains).some(({ tx: on }) => on.to === on.from)
  let least = isCancelled && micros < spent ? micros : spent
  if (isSponsored(tx.kind)) return before.some(({ executed }) => executed === null) ? 0n : least
  for (const landed of before) {
    const cost = costOf(tx, landed)
    if (cost < least) least = cost
  }
  return least
}

/** Rounded up. Which price it was, another oracle asks. */
function costOf({ valuation }: Transaction, landed: Landed): bigint {
  const { nativePrice, nativePriceDecimals } = valuation
  const microsOf = (wei: bigint) =>
    valueUsdMicros(wei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  const gas = microsOf(landed.gasUsed * landed.gasPriceWei + landed.l1FeeWei)
  return gas + (landed.isSuccess ? microsOf(landed.tx.value) : 0n)
}
