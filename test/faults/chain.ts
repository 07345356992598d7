import type { ChainAccess } from '../../src/chains/access.js'
import { createFeeOracle } from '../../src/chains/fee-oracle.js'
import { createGasPlanner } from '../../src/chains/gas.js'
import { createChainReads } from '../../src/chains/reads.js'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { createSimulator } from '../../src/chains/simulate/simulator.js'
import type { ChainConfig } from '../../src/config/chains.js'
import type { ChainId } from '../../src/domain/chains.js'
import type { Address } from '../../src/domain/ids.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { chainConfig } from '../support/chain-config.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'
import { createBlockMaker } from './block-maker.js'

/** A chain that mines only when it is told to, behind two nodes that break on demand. */
export interface FaultChain {
  readonly id: ChainId
  readonly anvil: Anvil
  readonly config: ChainConfig
  /** In the order in which the service prefers them; both stand before the same pool. */
  readonly proxies: readonly [FaultProxy, FaultProxy]
  /** A connection of its own to both proxies; the caller closes its `rpc`. */
  connect(): ChainAccess
  /** Has connections that are made from now on give up an answer that hangs after so long. */
  giveUpAfter(ms: number): void
  /** One block every so often, until `stopMining`. */
  startMining(everyMs?: number): void
  stopMining(): Promise<void>
  mine(blocks?: number): Promise<void>
  /** Takes that many blocks back and puts as many empty ones in their place. */
  reorg(depth: number): Promise<void>
  /**
   * A transaction that the service knows nothing of, mined so deep that the reorgs of these tests
   * do not reach it. @returns false when the pool did not let it in, or something else got there
   */
  landFromOutside(from: Address, to: Address): Promise<boolean>
  stop(): Promise<void>
}

export interface FaultChainOptions {
  readonly confirmations?: number
  readonly ceilingWei?: bigint
  /** As `giveUpAfter` has it. */
  readonly rpcTimeoutMs?: number
}

/** Runtime code that answers every call with one word of zeros: a token nobody has any of. */
const ANSWERS_ZERO = '0x5f5f5260205ff3'
/** Above every fee that these tests let come up. */
const OUTSIDE_GAS_PRICE_WEI = 5n * 10n ** 12n
const OUTSIDE_BLOCKS = 5
const BLOCK_MS = 150
/** Hung answers are given up after this; production waits for seconds. */
const RPC_TIMEOUT_MS = 2_500

export async function startFaultChain(
  id: ChainId,
  options: FaultChainOptions = {},
): Promise<FaultChain> {
  const { confirmations = 2, ceilingWei = 10n ** 12n } = options
  let { rpcTimeoutMs = RPC_TIMEOUT_MS } = options
  const anvil = await startAnvil({ chainId: id, args: ['--no-mining', '--order', 'fees'] })
  const open: FaultProxy[] = []
  const proxy = async () => {
    const started = await startFaultProxy({ upstream: anvil.url, pool: 'geth' })
    open.push(started)
    return started
  }
  const maker = createBlockMaker(`chain ${id}`, anvil.rpc)
  async function stop(): Promise<void> {
    await maker.stop()
    await Promise.all(open.map((it) => it.close()))
    await anvil.stop()
  }
  try {
    const proxies = [await proxy(), await proxy()] as const
    await anvil.rpc('anvil_setCode', [chainConfig(id).wrapped_native, ANSWERS_ZERO])
    await anvil.rpc('anvil_mine', ['0x8'])
    const config = chainConfig(id, {
      rpc_urls: proxies.map(({ url }) => url),
      confirmations,
      // A quarter of it is how often the watcher looks.
      block_time_ms: 400,
      max_fee_per_gas_ceiling_wei: ceilingWei.toString(),
    })
    return {
      id,
      anvil,
      config,
      proxies,
      stop,
      stopMining: () => maker.stop(),
      mine: (blocks) => maker.mine(blocks),
      reorg: (depth) => maker.reorg(depth),
      connect() {
        const rpc = createRpcClient({
          chainId: id,
          endpoints: config.rpc_urls,
          timeoutMs: rpcTimeoutMs,
        })
        const reads = createChainReads(rpc)
        const gas = createGasPlanner(rpc, reads, config)
        return {
          ...{ config, rpc, reads, gas },
          fees: createFeeOracle(rpc, { ceilingWei }),
          simulator: createSimulator(rpc, config.wrapped_native as Address),
        }
      },
      giveUpAfter(ms) {
        rpcTimeoutMs = ms
      },
      startMining(everyMs = BLOCK_MS) {
        maker.start(everyMs)
      },
      async landFromOutside(from, to) {
        await anvil.rpc('anvil_impersonateAccount', [from])
        try {
          // The account's next nonce, at a price that replaces whatever of ours waits there.
          const nonce = await anvil.rpc('eth_getTransactionCount', [from, 'latest'])
          const gasPrice = `0x${OUTSIDE_GAS_PRICE_WEI.toString(16)}`
          const tx = { from, to, nonce, value: '0x1', gas: '0x5208', gasPrice }
          const hash = await anvil.rpc('eth_sendTransaction', [tx])
          await maker.mine(OUTSIDE_BLOCKS)
          return (await anvil.rpc('eth_getTransactionReceipt', [hash])) !== null
        } catch {
          return false
        } finally {
          await anvil.rpc('anvil_stopImpersonatingAccount', [from])
        }
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
