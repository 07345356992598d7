import type { Registry } from 'prom-client'
import { connectChains } from '../chains/access.js'
import { startRouterChecks } from '../chains/router-checks.js'
import { startSimulationChecks } from '../chains/simulation-checks.js'
import type { ChainConfig } from '../config/chains.js'
import { readScreeningFile } from '../config/screening.js'
import type { Meter } from '../domain/meter.js'
import type { PathMeter } from '../domain/path-meter.js'
import { createChainlinkPrices } from '../pricing/chainlink.js'
import { createScreener, type ScreenerOptions } from '../screening/local-screener.js'
import { attachPreparedRules, type PreparedRules } from '../screening/prepared-rules.js'
import { openProviders } from '../screening/providers/configured-providers.js'
import { WalkPool } from '../screening/walk-pool.js'
import { type Half, openEnvironment } from '../store/environment.js'
import { knownSpendersOf } from '../store/known-spenders.js'
import { createReader } from '../store/reader.js'
import { createCallQuoter } from '../valuation/call-quoter.js'
import { meterRpc } from './rpc-meter.js'

interface ThreadPortsOptions {
  readonly home: string
  readonly storeDirectory: string
  readonly chainConfigs: readonly ChainConfig[]
  readonly recordVersions: SharedArrayBuffer
  /** `opened`: a journal exists from which the store can be restored. Absent: `refused`. */
  readonly half?: Half
  readonly rulesVersion: SharedArrayBuffer
  readonly lists: ScreenerOptions['lists']
  readonly log: {
    info(context: object, message: string): void
    warn(context: object, message: string): void
    error(context: object, message: string): void
  }
  readonly meter: Meter
  readonly path: PathMeter
  /** Shows the findings of the chains' checks; null when another thread shows them. */
  readonly registry: Registry | null
}

/**
 * The ports that every thread of the service opens for itself: the store, the chains, their prices,
 * and the valuation and screening of calls. The main thread simulates with them, a worker acts on
 * them.
 */
export async function openThreadPorts(options: ThreadPortsOptions) {
  const { home, log, registry } = options
  const environment = openEnvironment(
    options.storeDirectory,
    options.recordVersions,
    (err) => log.error({ err }, 'a damaged record was passed over'),
    options.half,
  )
  const reader = createReader(environment)
  const { meter, path } = options
  const { chains, close: closeChains } = connectChains(
    options.chainConfigs,
    meterRpc(meter, path, log),
  )
  const report = registry === null ? null : { registry, log }
  const simulation = startSimulationChecks(chains, report)
  const routers = await startRouterChecks(chains, report)
  const prices = createChainlinkPrices(
    [...chains.values()].map(({ config, rpc }) => ({ chain: config, rpc })),
  )
  const rules: PreparedRules = attachPreparedRules(options.rulesVersion, (userId) =>
    reader.fresh().users.addressRules(userId),
  )
  const providers = openProviders(home, readScreeningFile(home))
  const walkPool = new WalkPool()
  meter.queue('walks', () => walkPool.read())
  const { rulesOf } = rules
  const screener = createScreener({ lists: options.lists, walkPool, providers, rulesOf })
  const { hasRouter } = routers
  const knownSpenders = knownSpendersOf(reader)
  return {
    environment,
    reader,
    chains,
    prices,
    rules,
    screener,
    hasRouter,
    quoter: createCallQuoter(chains, prices, { knownSpenders, hasRouter }),
    /** Stops the periodic checks of the chains. */
    stopChecks(): void {
      simulation.close()
      routers.close()
    },
    /** Closes everything except the store, which others may still have to write. */
    async close(): Promise<void> {
      prices.close()
      const closing = [screener, ...providers].map((each) => each.close())
      await Promise.allSettled([...closing, closeChains()])
    },
  }
}
