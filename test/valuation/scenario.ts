import { encodeFunctionData, maxUint256, parseSignature } from 'viem'
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import type { Address, Hex } from '../../src/domain/ids.js'
import { thiefAbi, type Wallet, type World } from './world.js'

/** One way of moving or exposing value, and how it must be answered. */
export interface Scenario {
  readonly title: string
  /** What the wallet did before, long enough ago that its own spend is no part of this one. */
  readonly given?: (scene: Scene) => readonly Call[]
  readonly call: (scene: Scene) => Call | Promise<Call>
  /** True when the thief changes its ways between quote and execution. */
  readonly armed?: boolean
  /** `valued`: at or above what leaves. `unpriced`: only for keys that allow it. Else the refusal. */
  readonly expected:
    | 'valued'
    | 'unpriced'
    | 'PRICE_UNAVAILABLE'
    | 'SIMULATION_REVERTED'
    | 'INSUFFICIENT_FUNDS'
  /** True where nothing but gas is at stake. */
  readonly onlyGas?: boolean
}

export interface Scene {
  readonly world: World
  readonly wallet: Wallet
}

export interface Call {
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
}

export const UNLIMITED = maxUint256
export const FAR_AWAY = 2n ** 47n

export function callOf(to: Address, data: Hex, value = 0n): Call {
  return { to, data, value }
}

type ThiefCall = Parameters<typeof encodeFunctionData<typeof thiefAbi>>[0]

/** Calls the thief. */
export function thieving(
  { world }: Scene,
  functionName: NonNullable<ThiefCall['functionName']>,
  args: readonly unknown[] = [],
  value = 0n,
): Call {
  const data = encodeFunctionData({ abi: thiefAbi, functionName, args } as ThiefCall)
  return callOf(world.thief, data, value)
}

/** EIP-2612 permit for the whole USDC balance, signed with the wallet's own key. */
export async function usdcPermit({ world, wallet }: Scene, spender: Address, value: bigint) {
  const domain = {
    name: 'USD Coin',
    version: '1',
    chainId: world.chainId,
    verifyingContract: world.usdc,
  }
  const message = { owner: wallet.address, spender, value, nonce: 0n, deadline: FAR_AWAY }
  const signature = await wallet.account.signTypedData({
    domain,
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message,
  })
  const { r, s, v } = parts(signature)
  return encodeFunctionData({
    abi: devUsdc.abi,
    functionName: 'permit',
    args: [wallet.address, spender, value, FAR_AWAY, v, r, s],
  })
}

/** EIP-3009 transfer out of the wallet, signed with its own key. */
export async function usdcAuthorization({ world, wallet }: Scene, to: Address, value: bigint) {
  const nonce: Hex = `0x${'5'.repeat(64)}`
  const message = { from: wallet.address, to, value, validAfter: 0n, validBefore: FAR_AWAY, nonce }
  const signature = await wallet.account.signTypedData({
    domain: {
      name: 'USD Coin',
      version: '1',
      chainId: world.chainId,
      verifyingContract: world.usdc,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const { r, s, v } = parts(signature)
  return encodeFunctionData({
    abi: devUsdc.abi,
    functionName: 'transferWithAuthorization',
    args: [wallet.address, to, value, 0n, FAR_AWAY, nonce, v, r, s],
  })
}

export function parts(signature: Hex): { r: Hex; s: Hex; v: number } {
  const { r, s, yParity } = parseSignature(signature)
  return { r, s, v: 27 + yParity }
}
