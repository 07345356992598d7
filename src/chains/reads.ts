import { LRUCache } from 'lru-cache'
import { addressWord, uintAt } from '../contracts/abi-words.js'
import { BALANCE_OF, DECIMALS, SYMBOL } from '../contracts/selectors.js'
import type { Address, Hex } from '../domain/ids.js'
import { type AccountCode, CONTRACT_CODE, readAccountCode } from './account-code.js'
import { type BlockSummary, parseBlock } from './heads.js'
import { quantity, quantityNumber, toQuantity } from './hex.js'
import { parseReceipt, parseReceiptOf, type Receipt, type ReceiptOf } from './receipts.js'
import { RpcCallError, RpcShapeError } from './rpc/errors.js'
import type { RpcClient, RpcResult, View } from './rpc/types.js'
import { decodeSymbol, type TokenMetadata } from './token-metadata.js'

/** What the service asks a chain, with the answers checked. Calls of one tick share a request. */
export interface ChainReads {
  readonly chainId: number
  /** Wei. */
  nativeBalance(owner: Address, tag?: BlockTag): Promise<bigint>
  /** Smallest units. @throws RpcCallError, RpcShapeError when `token` is no ERC-20 */
  tokenBalance(token: Address, owner: Address): Promise<bigint>
  /** Same order as `tokens`; null where the token did not answer. At most 1,000 tokens. */
  tokenBalances(tokens: readonly Address[], owner: Address): Promise<(bigint | null)[]>
  /** Null when the contract has no `decimals`; cached, since both are fixed in practice. */
  tokenMetadata(token: Address): Promise<TokenMetadata | null>
  /** @param at a tag, or the number of a block */
  transactionCount(owner: Address, at: 'latest' | 'pending' | number): Promise<number>
  code(address: Address): Promise<AccountCode>
  /** The cached answer of `code`, or null when there is none that is fresh. Never waits. */
  cachedCode(address: Address): AccountCode | null
  /**
   * An account's code and nonce by the word of one node, that with the newest head: nodes that lag
   * deny what was mined just now, and two of them may together say what neither does. What
   * `code` has cached is replaced.
   * @param height a block that the node must have; @returns null while none has
   */
  account(address: Address, height: number): Promise<AccountAt | null>
  /**
   * Null for each transaction that is not mined, undefined where a node's answer cannot be used:
   * one receipt that is too large, say, must not keep the others back. Same order as `hashes`.
   * @throws what the first was refused with, where no answer can be used
   */
  receipts(hashes: readonly Hex[]): Promise<(Receipt | null | undefined)[]>
  /** All that these contracts logged in a transaction; null while it is not mined. */
  receiptOf(txHash: Hex, lowerCaseEmitters: ReadonlySet<string>): Promise<ReceiptOf | null>
  /** With transaction hashes only; null when the node has no such block. */
  block(at: number | 'latest'): Promise<BlockSummary | null>
}

export interface AccountAt {
  readonly code: AccountCode
  readonly nonce: number
}

export type BlockTag = 'latest' | 'pending' | 'safe' | 'finalized'

export interface TransactionCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  /** Wei. */
  readonly value: bigint
}

const TOKENS_PER_CALL_MAX = 1_000
const METADATA_CACHE_MAX = 4_096
/** 64 bytes an entry or so: a few megabytes at most. */
const CODE_CACHE_MAX = 32_768
const CODE_MAX_AGE_MS = 10 * 60_000
/** Code can appear at any block (a deployment, a delegation), so its absence is short-lived. */
const NO_CODE_MAX_AGE_MS = 5_000
/** How finely ages are measured: by default the cache sets a timer in each millisecond it is asked in. */
const CODE_AGE_STEP_MS = 100

/** @param elapsed milliseconds of a clock that nobody sets; absent: that of this process */
export function createChainReads(rpc: RpcClient, elapsed?: () => number): ChainReads {
  const metadata = new LRUCache<string, TokenMetadata>({ max: METADATA_CACHE_MAX })
  const codes = new LRUCache<string, AccountCode>({
    max: CODE_CACHE_MAX,
    ...(elapsed === undefined
      ? { ttlResolution: CODE_AGE_STEP_MS }
      : { ttlResolution: 0, perf: { now: elapsed } }),
  })

  function ethCall(to: Address, data: string) {
    return { method: 'eth_call', params: [{ to, data }, 'latest'] }
  }

  async function tokenBalances(tokens: readonly Address[], owner: Address) {
    if (tokens.length > TOKENS_PER_CALL_MAX) throw new RangeError('too many tokens in one call')
    const data = BALANCE_OF + addressWord(owner)
    const answers = await rpc.batch(tokens.map((token) => ethCall(token, data)))
    return answers.map(uintOrNull)
  }

  let lastCodeOf = { address: '', key: '' }

  /** A quote asks for one account several times in a row, and to lower it takes longer than to look. */
  function codeKeyOf(address: Address): string {
    if (lastCodeOf.address !== address) lastCodeOf = { address, key: address.toLowerCase() }
    return lastCodeOf.key
  }

  async function code(address: Address): Promise<AccountCode> {
    const key = codeKeyOf(address)
    const cached = codes.get(key)
    if (cached !== undefined) return cached
    if (isPrecompile(key)) return CONTRACT_CODE
    return keepCode(key, await rpc.request<unknown>('eth_getCode', [address, 'latest']))
  }

  function keepCode(key: string, answer: unknown): AccountCode {
    if (typeof answer !== 'string' || !answer.startsWith('0x')) throw new RpcShapeError('code')
    const read = readAccountCode(answer as Hex)
    // A delegation is as easily changed as made; only real contracts stay.
    const ttl = read.kind === 'contract' ? CODE_MAX_AGE_MS : NO_CODE_MAX_AGE_MS
    codes.set(key, read, { ttl })
    return read
  }

  function apart(address: Address): Promise<unknown[]> {
    const params = [address, 'latest']
    const methods = ['eth_getCode', 'eth_getTransactionCount']
    return Promise.all(methods.map((method) => rpc.request(method, params)))
  }

  return {
    chainId: rpc.chainId,
    async nativeBalance(owner, tag = 'latest') {
      return quantity(await rpc.request('eth_getBalance', [owner, tag]))
    },
    async tokenBalance(token, owner) {
      const { method, params } = ethCall(token, BALANCE_OF + addressWord(owner))
      const balance = uintAt(await rpc.request<Hex>(method, params), 0)
      if (balance === null) throw new RpcShapeError('balanceOf')
      return balance
    },
    tokenBalances,
    async tokenMetadata(token) {
      const key = token.toLowerCase()
      const cached = metadata.get(key)
      if (cached !== undefined) return cached
      const [decimals, symbol] = await rpc.batch([ethCall(token, DECIMALS), ethCall(token, SYMBOL)])
      if (decimals !== undefined && !decimals.ok && !(decimals.error instanceof RpcCallError)) {
        throw decimals.error
      }
      const places = decimals === undefined ? null : uintOrNull(decimals)
      if (places === null || places > 77n) return null
      const read: TokenMetadata = {
        decimals: Number(places),
        symbol: symbol?.ok ? decodeSymbol(symbol.value) : '',
      }
      metadata.set(key, read)
      return read
    },
    async transactionCount(owner, at) {
      const tag = typeof at === 'number' ? toQuantity(at) : at
      return quantityNumber(await rpc.request('eth_getTransactionCount', [owner, tag]))
    },
    code,
    cachedCode(address) {
      const key = codeKeyOf(address)
      return codes.get(key) ?? (isPrecompile(key) ? CONTRACT_CODE : null)
    },
    async account(address, height) {
      const views = await rpc.views([
        { method: 'eth_blockNumber', params: [] },
        { method: 'eth_getCode', params: [address, 'latest'] },
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
      ])
      let newest: { readonly head: number; readonly view: View } | null = null
      for (const view of views) {
        const head = quantityNumber(view[0])
        if (head >= (newest?.head ?? height)) newest = { head, view }
      }
      if (newest === null && views.length > 0) return null
      // Where no node answers several questions at once, their separate answers are all there is.
      const [, code, nonce] = newest?.view ?? [null, ...(await apart(address))]
      return { code: keepCode(codeKeyOf(address), code), nonce: quantityNumber(nonce) }
    },
    async receipts(hashes) {
      const answers = await rpc.batch(
        hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      )
      const failures: unknown[] = []
      const receipts = answers.map((answer) => {
        try {
          if (answer.ok) return parseReceipt(answer.value)
          failures.push(answer.error)
        } catch (error) {
          failures.push(error)
        }
        return undefined
      })
      if (failures.length > 0 && failures.length === receipts.length) throw failures[0]
      return receipts
    },
    async receiptOf(txHash, emitters) {
      return parseReceiptOf(await rpc.request('eth_getTransactionReceipt', [txHash]), emitters)
    },
    async block(at) {
      const tag = typeof at === 'number' ? toQuantity(at) : at
      return parseBlock(rpc.chainId, await rpc.request('eth_getBlockByNumber', [tag, false]))
    },
  }
}

/**
 * Precompiles have no code but run: a plain 21,000-gas send to one fails. All of them, on every
 * chain we serve, stand below 2^12 (Arbitrum's ArbSys is 0x64, P256VERIFY 0x100); 0x…dEaD, to
 * which people do send, does not.
 */
function isPrecompile(lowerCaseAddress: string): boolean {
  return lowerCaseAddress.startsWith('0x0000000000000000000000000000000000000')
}

function uintOrNull(answer: RpcResult): bigint | null {
  return answer.ok && typeof answer.value === 'string' ? uintAt(answer.value as Hex, 0) : null
}
