import type { OperationInput, OperationOutput } from '../api/operations.js'
import { chainNamed } from '../domain/chain-named.js'

/**
 * Turns a transfer as people state it ("5 USDC on Base") into the call that `send_transaction`
 * takes. Names come from the service's configuration, never from a token list of the client.
 */

export interface Transfer {
  /** Chain id, or the chain's name as `getSupportedChains` lists it, in any case: `base`. */
  readonly chain: number | string
  /** Symbol of a configured token, the address of a configured token, or `native`. */
  readonly token: string
  /** The recipient's address. */
  readonly to: string
  /** Decimal amount in units of the token: `5` or `0.25`. */
  readonly amount: string
}

/** Requests to the service that resolve names. */
export interface TransferLookups {
  chains(): Promise<OperationOutput<'get_supported_chains'>>
  native(chainId: number): Promise<OperationOutput<'get_native_balance'>>
  tokens(chainId: number): Promise<OperationOutput<'get_token_balances'>>
}

type Call = OperationInput<'send_transaction'>

/** `transfer(address,uint256)` of ERC-20. */
const TRANSFER_SELECTOR = '0xa9059cbb'
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const AMOUNT = /^(\d{1,78})(?:\.(\d{1,78}))?$/
const UINT256_MAX = (1n << 256n) - 1n

/**
 * @returns the request of `send_transaction`
 * @throws TypeError if a chain, token, address or amount cannot be resolved; nothing was sent
 */
export async function transferCall(transfer: Transfer, lookups: TransferLookups): Promise<Call> {
  if (!ADDRESS.test(transfer.to)) throw new TypeError(`to is not an address: ${transfer.to}`)
  const chainId = await chainIdOf(transfer.chain, lookups)
  if (transfer.token.toLowerCase() === 'native') {
    const { decimals } = await lookups.native(chainId)
    const value = smallestUnits(transfer.amount, decimals)
    return { chain_id: chainId, to: transfer.to, value: value.toString() }
  }
  const { token, decimals } = await tokenOf(transfer.token, chainId, lookups)
  const amount = smallestUnits(transfer.amount, decimals)
  const words = [BigInt(transfer.to), amount].map((word) => word.toString(16).padStart(64, '0'))
  return { chain_id: chainId, to: token, data: `${TRANSFER_SELECTOR}${words.join('')}`, value: '0' }
}

async function chainIdOf(chain: number | string, lookups: TransferLookups): Promise<number> {
  if (typeof chain === 'number') return chain
  const { chains } = await lookups.chains()
  const found = chainNamed(chains, chain)
  if (found !== null) return found.id
  const names = chains.map(({ name }) => name).join(', ')
  throw new TypeError(`No chain is named ${chain}. The chains are: ${names}.`)
}

async function tokenOf(wanted: string, chainId: number, lookups: TransferLookups) {
  const { tokens } = await lookups.tokens(chainId)
  const key = wanted.toLowerCase()
  const matching = tokens.filter(({ token, symbol }) =>
    ADDRESS.test(wanted) ? token.toLowerCase() === key : symbol.toLowerCase() === key,
  )
  const [found] = matching
  if (found !== undefined && matching.length === 1) return found
  const symbols = tokens.map(({ symbol }) => symbol).join(', ')
  throw new TypeError(
    found === undefined
      ? `The service has no token ${wanted} on chain ${chainId}. It has: ${symbols}. Send the calldata of any other token with sendTransaction.`
      : `Several tokens of chain ${chainId} have the symbol ${wanted}. Name the token by its address.`,
  )
}

/** Exact: an amount with more fraction digits than the token has is refused, never rounded. */
function smallestUnits(amount: string, decimals: number): bigint {
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined) throw new TypeError(`amount is not a decimal number: ${amount}`)
  if (fraction.length > decimals) {
    throw new TypeError(`amount ${amount} has more than the ${decimals} decimals of the token`)
  }
  const units = BigInt(`${whole}${fraction.padEnd(decimals, '0')}`)
  if (units === 0n) throw new TypeError('amount is zero')
  if (units > UINT256_MAX) throw new TypeError(`amount is too large: ${amount}`)
  return units
}
