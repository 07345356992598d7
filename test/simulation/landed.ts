import { NATIVE_DECIMALS } from '../../src/domain/chains.js'
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

/** By the chain: what it moved, and the gas that the wallet itself paid. */
export function spentOf(tx: Transaction, chains: ChainWorlds): bigint {
  const { valueMicros, nativePrice, nativePriceDecimals } = tx.valuation
  if (isSponsored(tx.kind)) return tx.status === 'confirmed' ? valueMicros : 0n
  // Rounded up. Which price it was, another oracle asks.
  const microsOf = (wei: bigint) =>
    valueUsdMicros(wei, NATIVE_DECIMALS, nativePrice, nativePriceDecimals)
  return landings(tx, chains).reduce((sum, landed) => {
    const gas = microsOf(landed.gasUsed * landed.gasPriceWei + landed.l1FeeWei)
    return sum + gas + (landed.isSuccess ? microsOf(landed.tx.value) : 0n)
  }, 0n)
}
