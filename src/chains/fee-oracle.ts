import { type Fees, feesFor, nextBaseFee, parseFeeHistory, TIP_PERCENTILE } from './fees.js'
import { type ChainHead, parseBlock } from './heads.js'
import { RpcShapeError } from './rpc/errors.js'
import type { RpcClient } from './rpc/types.js'

/**
 * The fees of one chain, cached per block. The write path reads `latest()`, which never waits;
 * whoever follows the chain's heads feeds `onHead`.
 */
export interface FeeOracle {
  /** Null until the first answer, and again when no head has come for `maxAgeMs`. */
  latest(): FeeQuote | null
  /** Cached when fresh, else asked for. @throws what `RpcClient.request` throws */
  quote(): Promise<FeeQuote>
  /** Refreshes in the background when the head is newer; at most one refresh runs at a time. */
  onHead(head: ChainHead): void
  close(): void
}

export interface FeeQuote {
  readonly fees: Fees
  /** What a transaction would pay in the next block: its base fee plus the tip, wei per gas. */
  readonly gasPriceWei: bigint
  readonly head: ChainHead
}

export interface FeeOracleOptions {
  readonly ceilingWei: bigint
  /** How long a quote is good without a newer head, milliseconds. */
  readonly maxAgeMs?: number
  /** Milliseconds of a clock that nobody sets; absent: that of this process. */
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
    const [block, history] = await Promise.all([
      rpc.request<unknown>('eth_getBlockByNumber', ['latest', false]),
      rpc.request<unknown>('eth_feeHistory', [HISTORY_BLOCKS, 'latest', [TIP_PERCENTILE]]),
    ])
    const head = parseBlock(rpc.chainId, block)
    if (head === null) throw new RpcShapeError('no latest block')
    const parsed = parseFeeHistory(history)
    const fees = feesFor(head, parsed, ceilingWei)
    const gasPriceWei = nextBaseFee(head, parsed) + fees.maxPriorityFeePerGas
    // A lagging endpoint must not take the quote back in time.
    if (cached === null || head.number >= cached.head.number || !fresh()) {
      cached = { fees, gasPriceWei, head }
      cachedAtMs = elapsed()
    }
    return cached
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
