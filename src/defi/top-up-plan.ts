import type { ChainAccess } from '../chains/access.js'
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
  { config, reads, fees }: ChainAccess,
  wallets: GasWalletsFile,
  executions: bigint,
): Promise<TopUp[]> {
  const addresses = wallets[config.id] ?? []
  if (addresses.length === 0) return []
  const quote = await fees.quote()
  const wanted = executions * EXECUTION_GAS * quote.fees.maxFeePerGas
  return Promise.all(
    addresses.map(async (address): Promise<TopUp> => {
      const balanceWei = await reads.nativeBalance(address)
      const missingWei = wanted > balanceWei ? wanted - balanceWei : 0n
      return { chainId: config.id, address, balanceWei, missingWei }
    }),
  )
}
