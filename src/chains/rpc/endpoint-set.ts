import type { Timers } from '../../clock/timers.js'
import type { Endpoint } from './endpoint.js'

/** Chooses among a chain's endpoints, in the operator's order of preference. */
export interface EndpointSet {
  readonly all: readonly Endpoint[]
  /**
   * The first usable endpoint that is not in `tried`. Preferred endpoints that may be back are
   * probed in the background; their probes are awaited only when nothing else is left.
   */
  pick(tried: ReadonlySet<Endpoint>): Promise<Endpoint | null>
  /** A usable endpoint without waiting, or null. */
  pickReady(tried: ReadonlySet<Endpoint>): Endpoint | null
  /** All endpoints that may be used now; those that may be back are probed first. */
  usable(): Promise<readonly Endpoint[]>
  /**
   * Milliseconds until a rate-limited endpoint may be used again; null when no endpoint is
   * rate-limited.
   */
  restMs(): number | null
  readyCount(): number
}

export function createEndpointSet(
  endpoints: readonly Endpoint[],
  timers: Pick<Timers, 'now'>,
): EndpointSet {
  function pickReady(tried: ReadonlySet<Endpoint>): Endpoint | null {
    const nowMs = timers.now()
    for (const endpoint of endpoints) {
      if (!tried.has(endpoint) && endpoint.state(nowMs) === 'ready') return endpoint
    }
    return null
  }

  return {
    all: endpoints,
    pickReady,
    async pick(tried) {
      const nowMs = timers.now()
      const probes: Promise<Endpoint>[] = []
      for (const endpoint of endpoints) {
        if (tried.has(endpoint)) continue
        const state = endpoint.state(nowMs)
        if (state === 'ready') return endpoint
        if (state !== 'probe') continue
        const probing = probe(endpoint)
        // No caller awaits the probe when a later endpoint is ready.
        probing.catch(() => undefined)
        probes.push(probing)
      }
      if (probes.length === 0) return null
      return Promise.any(probes).catch(() => null)
    },
    async usable() {
      const nowMs = timers.now()
      const asked = endpoints.map(async (endpoint) => {
        const state = endpoint.state(nowMs)
        if (state === 'ready' || (state === 'probe' && (await endpoint.verify()))) return [endpoint]
        return []
      })
      return (await Promise.all(asked)).flat()
    },
    restMs() {
      let earliest = Number.POSITIVE_INFINITY
      for (const endpoint of endpoints) {
        const until = endpoint.restingUntilMs()
        if (until > 0 && until < earliest) earliest = until
      }
      return earliest === Number.POSITIVE_INFINITY ? null : Math.max(0, earliest - timers.now())
    },
    readyCount() {
      const nowMs = timers.now()
      return endpoints.reduce((n, endpoint) => (endpoint.state(nowMs) === 'ready' ? n + 1 : n), 0)
    },
  }
}

async function probe(endpoint: Endpoint): Promise<Endpoint> {
  if (await endpoint.verify()) return endpoint
  throw new Error('the endpoint was not verified')
}
