import type { Timers } from '../clock/timers.js'
import type { ChainConfig } from '../config/chains.js'
import type { Address } from '../domain/ids.js'
import { createFeeOracle, type FeeOracle } from './fee-oracle.js'
import { createGasPlanner, type GasPlanner } from './gas.js'
import { type ChainReads, createChainReads } from './reads.js'
import { createRpcClient } from './rpc/client.js'
import type { Transport } from './rpc/transport.js'
import type { RpcClient, RpcMetrics } from './rpc/types.js'
import { createSimulator, type Simulator } from './simulate/simulator.js'

/** One chain as a thread of the service uses it. */
export interface ChainAccess {
  readonly config: ChainConfig
  readonly rpc: RpcClient
  readonly reads: ChainReads
  readonly gas: GasPlanner
  readonly fees: FeeOracle
  readonly simulator: Simulator
}

export type Chains = ReadonlyMap<number, ChainAccess>

/** The non-deterministic part of nodes, which a simulator replaces. */
interface NodeWorld {
  readonly timers: Timers
  readonly transportTo: (chainId: number, url: string) => Transport
}

/** @returns all chains of the configuration, and a function that closes their connections */
export function connectChains(
  configs: readonly ChainConfig[],
  metricsOf?: (chainId: number) => RpcMetrics,
  world?: NodeWorld,
): { readonly chains: Chains; close(): Promise<void> } {
  const chains = new Map<number, ChainAccess>()
  for (const config of configs) {
    const rpc = createRpcClient({
      chainId: config.id,
      endpoints: config.rpc_urls,
      ...(metricsOf === undefined ? {} : { metrics: metricsOf(config.id) }),
      ...(world === undefined ? {} : seenFrom(world, config.id)),
    })
    const wrappedNative = config.wrapped_native as Address
    const reads = createChainReads(rpc, { ...world?.timers, knownContract: wrappedNative })
    chains.set(config.id, {
      config,
      rpc,
      reads,
      gas: createGasPlanner(rpc, reads, config, world?.timers.elapsed),
      fees: createFeeOracle(rpc, {
        ceilingWei: BigInt(config.max_fee_per_gas_ceiling_wei),
        ...(world === undefined ? {} : { elapsed: world.timers.elapsed }),
      }),
      simulator: createSimulator(rpc, wrappedNative),
    })
  }
  return {
    chains,
    async close() {
      for (const { fees } of chains.values()) fees.close()
      await Promise.all([...chains.values()].map(({ rpc }) => rpc.close()))
    },
  }
}

function seenFrom({ timers, transportTo }: NodeWorld, chainId: number) {
  return { timers, transportTo: (url: string) => transportTo(chainId, url) }
}
