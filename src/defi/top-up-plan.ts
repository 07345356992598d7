import type { Chains } from '../chains/access.js'
import type { Address } from '../domain/ids.js'
import type { GasWalletsFile } from './gas-wallets-file.js'

/** What a gas wallet lacks, for whoever holds the funds to send. */
export interface TopUp {
  readonly chainId: number
  readonly address: Address
  readonly balanceWei: bigint
  /** 0 when it has enough. */
  readonly missingWei: bigint
}

/** A swap that delegates first takes 250,000 gas. */
const EXECUTION_GAS = 250_000n

/**
 * @param executions how many sponsored calls each gas wallet should be able to pay for, at the fee
 *   that would be signed now
 * @throws FaultError CHAIN_UNAVAILABLE
 */
export async function planTopUps(
  chains: Chains,
  wallets: GasWalletsFile,
  executions: bigint,
): Promise<TopUp[]> {
  const plans = [...chains.values()].flatMap(({ config, reads, fees }) =>
    (wallets[config.id] ?? []).map(async (address): Promise<TopUp> => {
      const [balanceWei, quote] = await Promise.all([reads.nativeBalance(address), fees.quote()])
      const wanted = executions * EXECUTION_GAS * quote.fees.maxFeePerGas
      const missingWei = wanted > balanceWei ? wanted - balanceWei : 0n
      return { chainId: config.id, address, balanceWei, missingWei }
    }),
  )
  return Promise.all(plans)
}
