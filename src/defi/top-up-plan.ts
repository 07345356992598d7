import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'
import { worstCaseFeeWei } from '../domain/transaction-fee.js'
import type { GasWalletsFile } from './gas-wallets-file.js'

/** The amount that a gas wallet lacks, for the holder of the funds to send. */
export interface TopUp {
  readonly chainId: number
  readonly address: Address
  readonly balanceWei: bigint
  /** 0 when it has enough. */
  readonly missingWei: bigint
}

/** A swap that also delegates takes 250,000 gas. */
const EXECUTION_GAS = 250_000n
/** Its intent, the venue's calldata, both signatures and an authorization. */
const EXECUTION_BYTES = 2_048

/**
 * @param executions how many sponsored calls each gas wallet should be able to pay for, at the fee
 * that would be signed now
 * @throws FaultError CHAIN_UNAVAILABLE
 */
export async function planTopUps(
  { config, reads, fees, gas }: ChainAccess,
  wallets: GasWalletsFile,
  executions: bigint,
): Promise<TopUp[]> {
  const addresses = wallets[config.id] ?? []
  if (addresses.length === 0) return []
  const [quote, sideFee] = await Promise.all([fees.quote(), gas.sideFee(EXECUTION_BYTES)])
  const each = worstCaseFeeWei(EXECUTION_GAS, quote.fees.maxFeePerGas, sideFee)
  const wanted = executions * each
  return Promise.all(
    addresses.map(async (address): Promise<TopUp> => {
      const balanceWei = await reads.nativeBalance(address)
      const missingWei = wanted > balanceWei ? wanted - balanceWei : 0n
      return { chainId: config.id, address, balanceWei, missingWei }
    }),
  )
}
