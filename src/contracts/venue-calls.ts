import { concatHex, encodeFunctionData, numberToHex, toFunctionSelector } from 'viem/utils'
import type { Address, Hex } from '../domain/ids.js'
import { erc4626Abi } from './abis/erc4626.js'
import { swapRouter02Abi } from './abis/swap-router-02.js'

/**
 * Calldata for the venues that the Router calls. The Router is the caller: it holds the input
 * during the call, so amounts are after the fee and receivers name the sub-wallet.
 */
interface SwapCall {
  /** ERC-20 addresses along the route, two or three; native currency as wrapped native. */
  readonly tokens: readonly Address[]
  /** Pool fee of each hop in hundredths of a basis point; one fewer than `tokens`. */
  readonly poolFees: readonly number[]
  /** The receiver of the output. */
  readonly recipient: Address
  /** In smallest units of the first token, after the Router's fee. */
  readonly amountIn: bigint
  /** In smallest units of the last token. */
  readonly minOut: bigint
}

/** SwapRouter02's own address as a recipient, so that it can unwrap what it holds. */
const SWAP_ROUTER_ITSELF: Address = '0x0000000000000000000000000000000000000002'

/** Uniswap v3 packed path: token, then fee (3 bytes) and token for each hop. */
export function encodeSwapPath(tokens: readonly Address[], poolFees: readonly number[]): Hex {
  if (tokens.length < 2 || poolFees.length !== tokens.length - 1) {
    throw new RangeError('a path of n tokens has n - 1 pool fees')
  }
  return concatHex(
    tokens.flatMap((token, i) => {
      const fee = poolFees[i]
      return fee === undefined ? [token] : [token, numberToHex(fee, { size: 3 })]
    }),
  )
}

/**
 * Exact-input swap on SwapRouter02 whose output is an ERC-20. With native input the Router sends
 * value along and SwapRouter02 wraps it: the first token is then wrapped native.
 * @throws RangeError when tokens and fees do not make a path
 */
export function encodeSwap(call: SwapCall): Hex {
  const [tokenIn, tokenOut] = call.tokens
  const [fee] = call.poolFees
  if (call.tokens.length === 2 && tokenIn !== undefined && tokenOut !== undefined && fee) {
    return encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: 'exactInputSingle',
      args: [
        {
          tokenIn,
          tokenOut,
          fee,
          recipient: call.recipient,
          amountIn: call.amountIn,
          amountOutMinimum: call.minOut,
          // The Router accepts only whole fills, so no price limit may stop a swap half-way.
          sqrtPriceLimitX96: 0n,
        },
      ],
    })
  }
  return encodeFunctionData({
    abi: swapRouter02Abi,
    functionName: 'exactInput',
    args: [
      {
        path: encodeSwapPath(call.tokens, call.poolFees),
        recipient: call.recipient,
        amountIn: call.amountIn,
        amountOutMinimum: call.minOut,
      },
    ],
  })
}

/** Like `encodeSwap`, ending in wrapped native that reaches the recipient as native currency. */
export function encodeSwapToNative(call: SwapCall): Hex {
  const swap = encodeSwap({ ...call, recipient: SWAP_ROUTER_ITSELF })
  const unwrap = encodeFunctionData({
    abi: swapRouter02Abi,
    functionName: 'unwrapWETH9',
    args: [call.minOut, call.recipient],
  })
  return encodeMulticall([swap, unwrap])
}

/**
 * Wraps native currency on SwapRouter02: the Router sends `amount` as value.
 * @param amount wei, after the Router's fee
 */
export function encodeWrap(wrappedNative: Address, amount: bigint, recipient: Address): Hex {
  return encodeMulticall([
    encodeFunctionData({ abi: swapRouter02Abi, functionName: 'wrapETH', args: [amount] }),
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: 'sweepToken',
      args: [wrappedNative, amount, recipient],
    }),
  ])
}

/**
 * Unwraps wrapped native currency on SwapRouter02, one for one.
 * @param amount wei, after the Router's fee
 */
export function encodeUnwrap(wrappedNative: Address, amount: bigint, recipient: Address): Hex {
  return encodeMulticall([
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: 'pull',
      args: [wrappedNative, amount],
    }),
    encodeFunctionData({
      abi: swapRouter02Abi,
      functionName: 'unwrapWETH9',
      args: [amount, recipient],
    }),
  ])
}

/** @param assets smallest units of the vault's asset, after the Router's fee */
export function encodeVaultDeposit(assets: bigint, recipient: Address): Hex {
  return encodeFunctionData({
    abi: erc4626Abi,
    functionName: 'deposit',
    args: [assets, recipient],
  })
}

/**
 * @param shares vault shares, after the Router's fee
 * @param router holds the shares when the vault is called
 */
export function encodeVaultRedeem(shares: bigint, recipient: Address, router: Address): Hex {
  return encodeFunctionData({
    abi: erc4626Abi,
    functionName: 'redeem',
    args: [shares, recipient, router],
  })
}

function encodeMulticall(calls: readonly Hex[]): Hex {
  return encodeFunctionData({ abi: swapRouter02Abi, functionName: 'multicall', args: [calls] })
}

/** Functions of SwapRouter02 that a Router must permit for the swaps above. */
export const SWAP_SELECTORS: readonly Hex[] = [
  toFunctionSelector('exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))'),
  toFunctionSelector('exactInput((bytes,address,uint256,uint256))'),
  toFunctionSelector('multicall(bytes[])'),
]

/** Functions of an ERC-4626 vault that a Router must permit for deposits and withdrawals. */
export const VAULT_SELECTORS: readonly Hex[] = [
  toFunctionSelector('deposit(uint256,address)'),
  toFunctionSelector('redeem(uint256,address,address)'),
]
