import {
  type FeeHistory,
  type Fees,
  feesFor,
  lacksFees,
  nextBaseFee,
  parseFeeHistory,
  TIP_PERCENTILES,
  weiOrNull,
  withSuggestions,
} from './fees.js'
import { type ChainHead, parseBlock } from './heads.js'
import { RpcShapeError } from './rpc/errors.js'
import type { RpcClient, RpcResult } from './rpc/types.js'

/**
 * The fees of one chain, cached per block. The write path reads `latest()`, which never waits; the
 * follower of the chain's heads calls `onHead`.
 */
export interface FeeOracle {
  /** Null until the first answer, and again when no head has come for `maxAgeMs`. */
  latest(): FeeQuote | null
  /**
   * Returns the cached quote when it is fresh, otherwise a new one.
   * @throws what `RpcClient.request` throws
   */
  quote(): Promise<FeeQuote>
  /** Refreshes in the background when the head is newer; at most one refresh runs at a time. */
  onHead(head: ChainHead): void
  close(): void
}

export interface FeeQuote {
  readonly fees: Fees
  /** The price of gas in the next block: its base fee plus the tip, wei per gas. */
  readonly gasPriceWei: bigint
  readonly head: ChainHead
}

interface FeeOracleOptions {
  readonly ceilingWei: bigint
  /** How long a quote is valid without a newer head, milliseconds. */
  readonly maxAgeMs?: number
  /** Milliseconds of a monotonic clock; absent to use this process's. */
  readonly elapsed?: () => number
}

/** Enough blocks for a median, few enough to follow a rise: four minutes of Ethereum. */
const HISTORY_BLOCKS = '0x14'
const MAX_AGE_MS = 30_000

export function createFeeOracle(rpc: RpcClient, options: FeeOracleOptions): FeeOracle {
  const { ceilingWei, maxAgeMs = MAX_AGE_MS, elapsed = () => performance.now() } = options
  let cached: FeeQuote | null = null
  let cachedAtMs = 0
  let refreshing: Promise<FeeQuote> | null = null
  let closed = false

  async function ask(): Promise<FeeQuote> {
    const [block, history] = await rpc.batch([
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method: 'eth_feeHistory', params: [HISTORY_BLOCKS, 'latest', TIP_PERCENTILES] },
    ])
    if (block?.ok !== true) throw block?.error ?? new RpcShapeError('no latest block')
    const head = parseBlock(rpc.chainId, block.value)
    if (head === null) throw new RpcShapeError('no latest block')
    const said = parseFeeHistory(valueIn(history))
    const parsed = lacksFees(head, said) ? await suggested(head, said) : said
    const fees = feesFor(head, parsed, ceilingWei)
    const gasPriceWei = nextBaseFee(head, parsed) + fees.maxPriorityFeePerGas
    // A lagging endpoint must not replace the quote with an older one.
    if (cached === null || head.number >= cached.head.number || !fresh()) {
      cached = { fees, gasPriceWei, head }
      cachedAtMs = elapsed()
    }
    return cached
  }

  /**
   * Used for a node without `eth_feeHistory`, or with an unusable answer, so that sends can
   * continue.
   */
  async function suggested(head: ChainHead, history: FeeHistory): Promise<FeeHistory> {
    const methods = ['eth_maxPriorityFeePerGas', 'eth_gasPrice']
    const [tip, gasPrice] = await rpc.batch(methods.map((method) => ({ method, params: [] })))
    return withSuggestions(head, history, {
      tip: weiOrNull(valueIn(tip)),
      gasPrice: weiOrNull(valueIn(gasPrice)),
    })
  }

  function refresh(): Promise<FeeQuote> {
    refreshing ??= ask().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  function fresh(): boolean {
    return elapsed() - cachedAtMs < maxAgeMs
  }

  return {
    latest: () => (cached !== null && fresh() ? cached : null),
    quote() {
      return cached !== null && fresh() ? Promise.resolve(cached) : refresh()
    },
    onHead(head) {
      if (closed || (cached !== null && head.number <= cached.head.number && fresh())) return
      // A failed refresh leaves the old quote until it is too old; the next head tries again.
      refresh().catch(() => undefined)
    },
    close() {
      closed = true
      cached = null
    },
  }
}

function valueIn(answer: RpcResult | undefined): unknown {
  return answer?.ok === true ? answer.value : null
}
