import { encodeFunctionData } from 'viem'
import type { Address, Hex } from '../../src/domain/ids.js'
import { valueUsdMicros } from '../../src/domain/money.js'
import { PERMIT2 } from '../../src/valuation/well-known.js'
import { transact } from '../support/deploy.js'
import {
  type ExecutedReceipt,
  execute,
  NATIVE_USD,
  thiefAbi,
  type Wallet,
  type World,
} from './world.js'

/**
 * What really left a wallet, read from the chain after a call was executed and the thieves took
 * all they could reach. Knows nothing of how calls are valued.
 */
export interface Audit {
  /** Micro-USD of native currency, gas included, and of tokens; nothing that came in is netted. */
  readonly leftMicros: bigint
  readonly gasMicros: bigint
  readonly reverted: boolean
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export async function executeAndAudit(
  world: World,
  wallet: Wallet,
  call: { readonly to: Address; readonly value: bigint; readonly data: Hex },
  gas: Parameters<typeof execute>[3],
): Promise<Audit> {
  const { anvil } = world
  const before = await nativeBalance(world, wallet.address)
  const receipt = await execute(world, wallet, call, gas)
  const paid = receipt as unknown as { gasUsed: Hex; effectiveGasPrice: Hex }
  const after = await nativeBalance(world, wallet.address)
  const receipts = [receipt]
  const tokens = [world.usdc, world.kitchen, world.silent, world.wrapped]
  for (const to of [world.thief, world.friend]) {
    const args = [tokens, PERMIT2, wallet.address] as const
    const data = encodeFunctionData({ abi: thiefAbi, functionName: 'loot', args })
    receipts.push((await transact(anvil, { to, data })) as unknown as ExecutedReceipt)
  }
  const nativeMicros = valueUsdMicros(before > after ? before - after : 0n, 18, NATIVE_USD, 0)
  return {
    leftMicros: nativeMicros + tokensLeft(world, wallet.address, receipts),
    gasMicros: valueUsdMicros(
      BigInt(paid.gasUsed) * BigInt(paid.effectiveGasPrice),
      18,
      NATIVE_USD,
      0,
    ),
    reverted: receipt.status !== '0x1',
  }
}

function tokensLeft(world: World, wallet: Address, receipts: readonly ExecutedReceipt[]): bigint {
  const worth = new Map<string, (amount: bigint) => bigint>([
    [world.usdc.toLowerCase(), (amount) => valueUsdMicros(amount, 6, 1n, 0)],
    [world.silent.toLowerCase(), (amount) => valueUsdMicros(amount, 6, 1n, 0)],
    [world.kitchen.toLowerCase(), (amount) => valueUsdMicros(amount, 18, 2n, 0)],
    [world.wrapped.toLowerCase(), (amount) => valueUsdMicros(amount, 18, NATIVE_USD, 0)],
  ])
  let left = 0n
  for (const { logs } of receipts) {
    for (const { address, topics, data } of logs) {
      const value = worth.get(address.toLowerCase())
      if (value === undefined || topics[0] !== TRANSFER) continue
      const [from, to] = [topics[1]?.slice(-40), topics[2]?.slice(-40)]
      if (from !== wallet.slice(2).toLowerCase() || to === from) continue
      left += value(BigInt(data))
    }
  }
  return left
}

async function nativeBalance({ anvil }: World, address: Address): Promise<bigint> {
  return BigInt(String(await anvil.rpc('eth_getBalance', [address, 'latest'])))
}
