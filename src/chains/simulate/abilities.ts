import { FaultError, fault } from '../../errors/fault.js'
import type { RpcClient, RpcEndpoint } from '../rpc/types.js'
import type { SimulationMethod } from './simulation.js'

/**
 * Which endpoint simulates by which method, found by having each run a call with a known outcome.
 * The result is kept per endpoint and until its next outage, because another node may come back. A
 * simulation goes only to endpoints that passed: one that leaves out native transfers, for example,
 * would make a call look free.
 */
export interface SimulationAbilities {
  /**
   * Methods that at least one endpoint runs correctly, preferred first. Waits for probes only when
   * none is known.
   * @throws FaultError CHAIN_UNAVAILABLE when no endpoint answers
   */
  methods(): Promise<readonly SimulationMethod[]>
  runs(endpoint: RpcEndpoint, method: SimulationMethod): boolean
  /** The abilities of each endpoint, in order of preference. */
  list(): readonly EndpointAbilities[]
  /** Probes endpoints whose abilities are unknown or outdated. Never rejects. */
  refresh(): Promise<void>
  /** A method failed unexpectedly: known abilities are probed again soon. */
  suspect(): void
}

export interface EndpointAbilities {
  readonly label: string
  /** Null while it has not answered since it was configured, or since its last outage. */
  readonly methods: readonly SimulationMethod[] | null
}

interface SimulationProbe {
  readonly methods: readonly SimulationMethod[]
  /**
   * @returns whether the endpoint runs the method correctly
   * @throws when it did not answer
   */
  works(endpoint: RpcEndpoint, method: SimulationMethod): Promise<boolean>
}

/** A node may be upgraded, or its operator may enable a method, without an outage. */
const PROBE_AGAIN_MS = 600_000
/** Until the next probe only statically known calls are accepted there. */
const PROBE_AGAIN_UNABLE_MS = 60_000
/** Hostile calls can make a method fail, and must not cause probes at that rate. */
const PROBE_AGAIN_SUSPECTED_MS = 15_000

interface Known {
  readonly incarnation: number
  readonly methods: readonly SimulationMethod[]
  readonly atMs: number
}

export function createSimulationAbilities(
  rpc: RpcClient,
  probe: SimulationProbe,
): SimulationAbilities {
  const known = new Map<string, Known>()
  let suspected = false
  let refreshing: Promise<void> | null = null

  function knownOf({ label, incarnation }: RpcEndpoint): Known | null {
    const found = known.get(label)
    return found?.incarnation === incarnation ? found : null
  }

  function isDue(endpoint: RpcEndpoint, nowMs: number): boolean {
    const found = knownOf(endpoint)
    if (found === null) return true
    const ageMs = nowMs - found.atMs
    if (suspected && ageMs >= PROBE_AGAIN_SUSPECTED_MS) return true
    return ageMs >= (found.methods.length === 0 ? PROBE_AGAIN_UNABLE_MS : PROBE_AGAIN_MS)
  }

  async function probeOne(endpoint: RpcEndpoint): Promise<void> {
    const { label, incarnation } = endpoint
    try {
      const working = await Promise.all(
        probe.methods.map((method) => probe.works(endpoint, method)),
      )
      const methods = probe.methods.filter((_, i) => working[i])
      known.set(label, { incarnation, methods, atMs: performance.now() })
    } catch {
      // No answer shows nothing: the known abilities of this incarnation are kept.
    }
  }

  async function probeDue(): Promise<void> {
    const nowMs = performance.now()
    const due = rpc.endpoints().filter((endpoint) => isDue(endpoint, nowMs))
    suspected = false
    await Promise.all(due.map(probeOne))
  }

  function refresh(): Promise<void> {
    refreshing ??= probeDue().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  function runs(endpoint: RpcEndpoint, method: SimulationMethod): boolean {
    return knownOf(endpoint)?.methods.includes(method) ?? false
  }

  function working(): readonly SimulationMethod[] {
    return probe.methods.filter((method) =>
      rpc.endpoints().some((endpoint) => runs(endpoint, method)),
    )
  }

  return {
    runs,
    refresh,
    async methods() {
      const found = working()
      if (found.length > 0) return found
      await refresh()
      if (rpc.endpoints().every((endpoint) => knownOf(endpoint) === null)) {
        throw new FaultError(fault('CHAIN_UNAVAILABLE', { chain_id: rpc.chainId }))
      }
      return working()
    },
    list: () =>
      rpc.endpoints().map((endpoint) => ({
        label: endpoint.label,
        methods: knownOf(endpoint)?.methods ?? null,
      })),
    suspect() {
      suspected = true
    },
  }
}
