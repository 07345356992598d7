import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { ChainConfig } from '../../src/config/chains.js'
import { NATIVE_DECIMALS } from '../../src/domain/chains.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { rpc } from './chains/json-rpc.js'

/**
 * Money on a development chain for free. The node sends as the deployer, so that no key and no
 * signing library is needed: scripts call this often, and wait for it.
 */
export interface FundRequest {
  readonly chain: ChainConfig
  /** Owner of the development tokens. */
  readonly deployer: Address
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

/** An error that the caller can correct. */
export class FundError extends Error {
  override readonly name = 'FundError'
}

interface Call {
  readonly to: Address
  readonly data: Hex
  readonly value: bigint
}

/** `mint(address,uint256)`, `transfer(address,uint256)`, `deposit()` of the development tokens. */
const MINT = '0x40c10f19'
const TRANSFER = '0xa9059cbb'
const DEPOSIT = '0xd0e30db0'
/** Several times what any of these takes; saves an estimate. */
const GAS_LIMIT = '0x30d40'
const AMOUNT = /^\d{1,30}(?:\.\d+)?$/
/** The node may give two concurrent transfers the same nonce; the second one is retried. */
const TRIES_MAX = 10
const RETRY_MS = 50
const NONCE_TAKEN = /nonce too low|already (?:known|imported)|replacement transaction underpriced/i

/**
 * Waits until the transaction is mined.
 * @throws FundError for an unknown token or an invalid amount
 */
export async function fund(request: FundRequest): Promise<Funded> {
  const { chain, deployer } = request
  const [rpcUrl] = chain.rpc_urls
  if (rpcUrl === undefined) throw new FundError(`chain ${chain.id} has no RPC URL`)
  const { calls, symbol, amount } = plan(request)
  await rpc(rpcUrl, 'anvil_impersonateAccount', [deployer])
  let last: Mined | null = null
  for (const call of calls) last = await sendWithNewNonce(rpcUrl, deployer, call)
  if (last === null) throw new FundError('nothing to send')
  return { txHash: last.transactionHash, blockNumber: BigInt(last.blockNumber), symbol, amount }
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
  const words = `${word(BigInt(to))}${word(amount)}`
  const calls =
    address === chain.wrapped_native
      ? [call(DEPOSIT, amount), call(`${TRANSFER}${words}`)]
      : [call(`${MINT}${words}`)]
  return { calls, symbol: token.symbol, amount }
}

/** @throws FundError unless it is a positive decimal that the token can express */
function parseAmount(text: string, decimals: number): bigint {
  if (!AMOUNT.test(text)) throw new FundError(`${text} is not a decimal amount`)
  if ((text.split('.')[1] ?? '').length > decimals) {
    throw new FundError(`${text} has more than ${decimals} fraction digits`)
  }
  const [whole = '', fraction = ''] = text.split('.')
  const amount = BigInt(whole + fraction.padEnd(decimals, '0'))
  if (amount === 0n) throw new FundError('the amount is zero')
  return amount
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}

const mined = z.object({
  transactionHash: z.templateLiteral(['0x', z.string()]),
  blockNumber: z.string(),
  status: z.string(),
})
type Mined = z.infer<typeof mined>

async function sendWithNewNonce(rpcUrl: string, from: Address, call: Call): Promise<Mined> {
  const { to, data, value } = call
  const request = { from, to, data, value: `0x${value.toString(16)}`, gas: GAS_LIMIT }
  for (let tries = 1; ; tries++) {
    try {
      const receipt = mined.parse(await rpc(rpcUrl, 'eth_sendTransactionSync', [request]))
      if (receipt.status !== '0x1') throw new FundError(`reverted: ${receipt.transactionHash}`)
      return receipt
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (tries === TRIES_MAX || !NONCE_TAKEN.test(text)) throw error
      await delay(RETRY_MS * tries)
    }
  }
}
