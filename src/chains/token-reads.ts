import { LRUCache } from 'lru-cache'
import { addressWord, uintAt } from '../contracts/abi-words.js'
import { BALANCE_OF, DECIMALS, SYMBOL } from '../contracts/selectors.js'
import type { Address, Hex } from '../domain/ids.js'
import { FaultError } from '../errors/fault.js'
import type { AccountCode } from './account-code.js'
import { contractCall } from './contract-call.js'
import { RpcCallError, RpcEmptyError } from './rpc/errors.js'
import type { RpcClient, RpcResult } from './rpc/types.js'
import { decodeSymbol, type TokenMetadata } from './token-metadata.js'

/**
 * Balances and metadata of ERC-20 tokens. An address counts as not being a token only when the
 * chain shows it: it has no code, the call reverts, or a contract answers something else while the
 * same node reads a known token.
 */
export interface TokenReads {
  /** In smallest units; null when there is no ERC-20 token at the address. */
  tokenBalance(token: Address, owner: Address): Promise<bigint | null>
  /**
   * In the order of `tokens`, which are configured ones; null for a token that could not be read.
   * At most 1,000 tokens.
   * @throws FaultError CHAIN_UNAVAILABLE when none could be read
   */
  tokenBalances(tokens: readonly Address[], owner: Address): Promise<(bigint | null)[]>
  /**
   * Null when there is no ERC-20 token at the address; cached, since both fields are fixed in
   * practice.
   */
  tokenMetadata(token: Address): Promise<TokenMetadata | null>
}

const TOKENS_PER_CALL_MAX = 1_000
const METADATA_CACHE_MAX = 4_096
const DECIMALS_MAX = 77n

/** @param knownContract a token that certainly answers `decimals`, or null */
export function createTokenReads(
  rpc: RpcClient,
  code: (address: Address) => Promise<AccountCode>,
  knownContract: Address | null,
): TokenReads {
  const metadata = new LRUCache<string, TokenMetadata>({ max: METADATA_CACHE_MAX })

  /** @returns the data of each call; null for one that is not a function of that address */
  async function read(token: Address, calls: readonly Hex[]): Promise<(Hex | null)[]> {
    const answers = await rpc.batch(calls.map((data) => mayBeEmpty(token, data)))
    if (!answers.some(isEmpty)) return answers.map(dataOf)
    if ((await code(token)).kind === 'none') return answers.map(() => null)
    const again = await rpc.batch([
      ...calls.map((data) => contractCall(token, data)),
      ...(knownContract === null ? [] : [contractCall(knownContract, DECIMALS)]),
    ])
    const isNodeWell = knownContract === null || again.pop()?.ok === true
    // A node that reads the known token, and has no data for this address, shows that it is not a
    // token.
    return again.map((answer) => (isEmptied(answer) && isNodeWell ? null : dataOf(answer)))
  }

  return {
    async tokenBalance(token, owner) {
      const [balance] = await read(token, [balanceOf(owner)])
      return balance === undefined || balance === null ? null : uintAt(balance, 0)
    },
    async tokenBalances(tokens, owner) {
      if (tokens.length > TOKENS_PER_CALL_MAX) throw new RangeError('too many tokens in one call')
      const data = balanceOf(owner)
      const answers = await rpc.batch(tokens.map((token) => contractCall(token, data)))
      const isAnyRead = answers.some((answer) => answer.ok)
      return answers.map((answer) => {
        const word = isAnyRead && !answer.ok ? null : dataOf(answer)
        return word === null ? null : uintAt(word, 0)
      })
    },
    async tokenMetadata(token) {
      const key = token.toLowerCase()
      const cached = metadata.get(key)
      if (cached !== undefined) return cached
      const [decimals, symbol] = await read(token, [DECIMALS, SYMBOL])
      const places = decimals === undefined || decimals === null ? null : uintAt(decimals, 0)
      if (places === null || places > DECIMALS_MAX) return null
      const found: TokenMetadata = { decimals: Number(places), symbol: decodeSymbol(symbol) }
      metadata.set(key, found)
      return found
    },
  }
}

function balanceOf(owner: Address): Hex {
  return `${BALANCE_OF}${addressWord(owner)}`
}

function mayBeEmpty(to: Address, data: Hex) {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] }
}

function isEmpty(answer: RpcResult): boolean {
  return answer.ok && answer.value === '0x'
}

/** Whether every node returned an empty result from an address with code. */
function isEmptied(answer: RpcResult): boolean {
  return (
    !answer.ok && answer.error instanceof FaultError && answer.error.cause instanceof RpcEmptyError
  )
}

/**
 * Returns null for a call that reverts.
 * @throws the error that prevented an answer
 */
function dataOf(answer: RpcResult): Hex | null {
  if (answer.ok) return answer.value as Hex
  if (answer.error instanceof RpcCallError) return null
  throw answer.error
}
