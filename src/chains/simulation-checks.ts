import { Gauge, type Registry } from 'prom-client'
import type { ChainAccess, Chains } from './access.js'
import type { EndpointAbilities } from './simulate/abilities.js'
import type { SimulationMethod } from './simulate/simulation.js'

/**
 * Probes how every endpoint simulates, from the start on and again after its outages. Nothing waits
 * for it: a call that comes first waits for the same probes.
 */
interface SimulationChecks {
  close(): void
}

/** Shows findings; absent in threads that only need the results. */
interface SimulationReport {
  readonly registry: Registry
  readonly log: {
    info(context: object, message: string): void
    warn(context: object, message: string): void
  }
}

/** The interval of checks; endpoints with known abilities cost nothing. */
const POLL_MS = 15_000
const METHODS: readonly SimulationMethod[] = ['eth_simulateV1', 'debug_traceCall']

export function startSimulationChecks(
  chains: Chains,
  report: SimulationReport | null,
  everyMs = POLL_MS,
): SimulationChecks {
  const reported = new Map<number, string>()
  if (report !== null) registerGauge(report.registry, chains)

  function tell({ config, simulator }: ChainAccess): void {
    const found = simulator.abilities.list()
    const endpoints = Object.fromEntries(found.map(({ label, methods }) => [label, methods]))
    // The chain's follower reports that the chain is unreachable.
    if (found.every(({ methods }) => methods === null)) return
    const text = JSON.stringify(endpoints)
    if (report === null || reported.get(config.id) === text) return
    reported.set(config.id, text)
    const context = { chainId: config.id, endpoints }
    if (found.some(({ methods }) => methods !== null && methods.length > 0)) {
      report.log.info(context, 'how the endpoints of a chain simulate')
    } else {
      const consequence = 'no endpoint of a chain simulates: only plain transfers pass there'
      report.log.warn(context, consequence)
    }
  }

  async function poll(): Promise<void> {
    await Promise.all(
      [...chains.values()].map(async (chain) => {
        await chain.simulator.abilities.refresh()
        tell(chain)
      }),
    )
  }

  void poll()
  const timer = setInterval(() => void poll(), everyMs)
  timer.unref()
  return {
    close: () => clearInterval(timer),
  }
}

function registerGauge(registry: Registry, chains: Chains): void {
  const gauge = new Gauge({
    name: 'countersign_simulation_ability',
    help: '1 where an endpoint runs the method right, 0 where it does not; absent until it answers.',
    labelNames: ['chain_id', 'endpoint', 'method'],
    registers: [registry],
    collect() {
      gauge.reset()
      for (const { config, simulator } of chains.values()) {
        for (const { label, methods } of simulator.abilities.list()) {
          setAll(config.id, label, methods)
        }
      }
    },
  })

  function setAll(chainId: number, endpoint: string, found: EndpointAbilities['methods']): void {
    if (found === null) return
    for (const method of METHODS) {
      gauge.set({ chain_id: chainId, endpoint, method }, found.includes(method) ? 1 : 0)
    }
  }
}
