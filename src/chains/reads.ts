import { LRUCache } from 'lru-cache'
import type { Address, Hex } from '../domain/ids.js'
import { type AccountCode, CONTRACT_CODE, readAccountCode } from './account-code.js'
import { type BlockSummary, parseBlock } from './heads.js'
import { quantity, quantityNumber, toQuantity } from './hex.js'
import {
  gasPriceOf,
  lacksGasPrice,
  parseReceipt,
  parseReceiptOf,
  type Receipt,
  type ReceiptOf,
} from './receipts.js'
import { RpcShapeError } from './rpc/errors.js'
import type { RpcClient, View } from './rpc/types.js'
import { createTokenReads, type TokenReads } from './token-reads.js'

/** The service's reads of a chain, with the answers checked. Reads of one tick share a request. */
export interface ChainReads extends TokenReads {
  readonly chainId: number
  /** Wei. */
  nativeBalance(owner: Address, tag?: BlockTag): Promise<bigint>
  /** @param at a tag, or the number of a block */
  transactionCount(owner: Address, at: 'latest' | 'pending' | number): Promise<number>
  code(address: Address): Promise<AccountCode>
  /** The cached answer of `code`, or null when no fresh one is cached. Never waits. */
  cachedCode(address: Address): AccountCode | null
  /**
   * An account's code and nonce from one node, the one with the newest head: lagging nodes lack
   * what was just mined, and combining two nodes could give a state that neither has. It replaces
   * the cached `code`.
   * @param height a block that the node must have
   * @returns null while no node has it
   */
  account(address: Address, height: number): Promise<AccountAt | null>
  /**
   * Null for each transaction that is not mined, undefined when a node's answer is unusable: a
   * single receipt that is too large, for example, must not hold back the others. Same order as
   * `hashes`.
   * @throws the refusal of the first when no answer is usable
   */
  receipts(hashes: readonly Hex[]): Promise<(Receipt | null | undefined)[]>
  /** Everything that these contracts logged in a transaction; null while it is not mined. */
  receiptOf(txHash: Hex, lowerCaseEmitters: ReadonlySet<string>): Promise<ReceiptOf | null>
  /** With transaction hashes only; null when the node has no such block. */
  block(at: number | 'latest'): Promise<BlockSummary | null>
}

export interface AccountAt {
  readonly code: AccountCode
  readonly nonce: number
}

type BlockTag = 'latest' | 'pending' | 'safe' | 'finalized'

export interface TransactionCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  /** Wei. */
  readonly value: bigint
}

/** About 64 bytes per entry: a few megabytes at most. */
const CODE_CACHE_MAX = 32_768
const CODE_MAX_AGE_MS = 10 * 60_000
/** Code can appear at any block (a deployment, a delegation), so its absence is cached briefly. */
const NO_CODE_MAX_AGE_MS = 5_000
/**
 * The resolution of ages: by default the cache sets a timer in each millisecond in which it is
 * used.
 */
const CODE_AGE_STEP_MS = 100

interface ChainReadsOptions {
  /** Milliseconds of a monotonic clock; absent to use this process's. */
  readonly elapsed?: () => number
  /**
   * A token of the chain that certainly answers `decimals`, to tell a bad node from a bad token.
   */
  readonly knownContract?: Address
}

export function createChainReads(rpc: RpcClient, options: ChainReadsOptions = {}): ChainReads {
  const { elapsed } = options
  const codes = new LRUCache<string, AccountCode>({
    max: CODE_CACHE_MAX,
    ...(elapsed === undefined
      ? { ttlResolution: CODE_AGE_STEP_MS }
      : { ttlResolution: 0, perf: { now: elapsed } }),
  })

  let lastCodeOf = { address: '', key: '' }

  /**
   * Remembered, because a quote reads one account several times in a row, and lowering the case
   * takes longer than the look-up.
   */
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
    // A delegation is changed as easily as it is made; only contracts stay.
    const ttl = read.kind === 'contract' ? CODE_MAX_AGE_MS : NO_CODE_MAX_AGE_MS
    codes.set(key, read, { ttl })
    return read
  }

  /** Completes a receipt without a gas price from its transaction and block. */
  async function withGasPrice(value: unknown): Promise<unknown> {
    if (!lacksGasPrice(value)) return value
    const { transactionHash, blockNumber } = value as Readonly<Record<string, unknown>>
    const [transaction, block] = await rpc.batch([
      { method: 'eth_getTransactionByHash', params: [transactionHash] },
      { method: 'eth_getBlockByNumber', params: [blockNumber, false] },
    ])
    try {
      const price = gasPriceOf(transaction?.ok && transaction.value, block?.ok ? block.value : null)
      return { ...(value as object), effectiveGasPrice: toQuantity(price) }
    } catch {
      return value
    }
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
    ...createTokenReads(rpc, code, options.knownContract ?? null),
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
      // When no node answers several calls at once, separate answers are used.
      const [, code, nonce] = newest?.view ?? [null, ...(await apart(address))]
      return { code: keepCode(codeKeyOf(address), code), nonce: quantityNumber(nonce) }
    },
    async receipts(hashes) {
      const answers = await rpc.batch(
        hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      )
      const failures: unknown[] = []
      const values = answers.map((answer) => {
        if (answer.ok) return answer.value
        failures.push(answer.error)
        return undefined
      })
      const bare = values.findIndex(lacksGasPrice) >= 0
      const whole = bare ? await Promise.all(values.map(withGasPrice)) : values
      const receipts = whole.map((value, i) => {
        if (answers[i]?.ok !== true) return undefined
        try {
          return parseReceipt(value)
        } catch (error) {
          failures.push(error)
          return undefined
        }
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
 * Precompiles have no code but run: a plain send with 21,000 gas to one fails. All of them, on
 * every chain we serve, are below 2^12 (Arbitrum's ArbSys is 0x64, P256VERIFY 0x100); 0x…dEaD, to
 * which people do send, is not.
 */
function isPrecompile(lowerCaseAddress: string): boolean {
  return lowerCaseAddress.startsWith('0x0000000000000000000000000000000000000')
}
