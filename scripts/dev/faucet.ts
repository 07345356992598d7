import { setTimeout as delay } from 'node:timers/promises'
import { encodeFunctionData, type LocalAccount, parseUnits } from 'viem'
import type { ChainConfig } from '../../src/config/chains.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import { devUsdcAbi } from '../../src/contracts/generated/dev-usdc.js'
import { devWrappedNativeAbi } from '../../src/contracts/generated/dev-wrapped-native.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { type ChainWriter, openChainWriter } from '../contracts/chain-writer.js'

/** Money of a development chain for the asking. */
export interface FundRequest {
  readonly chain: ChainConfig
  readonly deployer: LocalAccount
  readonly to: Address
  /** Decimal amount of whole units, such as "2.5". */
  readonly amount: string
  /** `native`, or the symbol of one of the chain's tokens; in any case. */
  readonly token: string
}

export interface Funded {
  readonly txHash: Hex
  readonly blockNumber: bigint
  readonly symbol: string
  /** Smallest units. */
  readonly amount: bigint
}

/** What the person who asked can mend. */
export class FundError extends Error {
  override readonly name = 'FundError'
}

interface Call {
  readonly to: Address
  readonly data: Hex
  readonly value: bigint
}

const NATIVE_DECIMALS = 18
const AMOUNT = /^\d{1,30}(?:\.\d+)?$/
/** Two processes that fund at once may pick the same nonce; the one that comes second asks again. */
const TRIES_MAX = 10
const RETRY_MS = 50
const NONCE_TAKEN = /nonce too low|already (?:known|imported)|replacement transaction underpriced/i

/**
 * Waits until the transaction is mined.
 * @throws FundError for an unknown token or an amount that is none
 */
export async function fund(request: FundRequest): Promise<Funded> {
  const { chain, deployer } = request
  const [rpcUrl] = chain.rpc_urls
  if (rpcUrl === undefined) throw new FundError(`chain ${chain.id} has no RPC URL`)
  const writer = openChainWriter(rpcUrl, chain.id, deployer)
  const { calls, symbol, amount } = plan(request)
  let last: { transactionHash: Hex; blockNumber: bigint } | null = null
  for (const call of calls) last = await sendWithNewNonce(writer, call)
  if (last === null) throw new FundError('nothing to send')
  return { txHash: last.transactionHash, blockNumber: last.blockNumber, symbol, amount }
}

function plan(request: FundRequest): { calls: Call[]; symbol: string; amount: bigint } {
  const { chain, to } = request
  const wanted = request.token.toLowerCase()
  if (wanted === 'native' || wanted === chain.native_symbol.toLowerCase()) {
    const amount = parseAmount(request.amount, NATIVE_DECIMALS)
    return { calls: [{ to, data: '0x', value: amount }], symbol: chain.native_symbol, amount }
  }
  const token = chain.tokens.find(({ symbol }) => symbol.toLowerCase() === wanted)
  if (token === undefined) {
    const known = ['native', ...chain.tokens.map(({ symbol }) => symbol)].join(', ')
    throw new FundError(`chain ${chain.id} has no token ${request.token}; it has ${known}`)
  }
  const address = token.address as Address
  const amount = parseAmount(request.amount, token.decimals)
  const call = (data: Hex, value = 0n): Call => ({ to: address, data, value })
  const calls =
    address === chain.wrapped_native
      ? [
          call(encodeFunctionData({ abi: devWrappedNativeAbi, functionName: 'deposit' }), amount),
          call(encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })),
        ]
      : [call(encodeFunctionData({ abi: devUsdcAbi, functionName: 'mint', args: [to, amount] }))]
  return { calls, symbol: token.symbol, amount }
}

/** @throws FundError unless it is a positive decimal that the token can express */
function parseAmount(text: string, decimals: number): bigint {
  if (!AMOUNT.test(text)) throw new FundError(`${text} is not a decimal amount`)
  if ((text.split('.')[1] ?? '').length > decimals) {
    throw new FundError(`${text} has more than ${decimals} fraction digits`)
  }
  const amount = parseUnits(text, decimals)
  if (amount === 0n) throw new FundError('the amount is zero')
  return amount
}

async function sendWithNewNonce(
  writer: ChainWriter,
  call: Call,
): Promise<{ transactionHash: Hex; blockNumber: bigint }> {
  for (let tries = 1; ; tries++) {
    try {
      return await writer.send(call)
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (tries === TRIES_MAX || !NONCE_TAKEN.test(text)) throw error
      await delay(RETRY_MS * tries)
    }
  }
}
