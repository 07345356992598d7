import type { RequestGate } from './request-gate.js'
import type { ExtraRoute } from './routes.js'

/**
 * | status | meaning |
 * |---|---|
 * | up | does its work |
 * | degraded | some of its work is not done: `reason` says which; the rest goes on |
 * | down | nothing that moves value is taken meanwhile; reads go on as far as they can |
 */
export type PartStatus = 'up' | 'degraded' | 'down'

export interface PartReport {
  readonly status: PartStatus
  /** A sentence for whoever is on call; there unless it is up. No secret and no path is in it. */
  readonly reason?: string
  /** More of it, on the wire: snake_case. */
  readonly [fact: string]: unknown
}

/** One thing the service cannot do its work without. */
export interface ReadinessPart {
  readonly name: string
  /** Must be cheap: load balancers ask often. */
  readonly report: () => PartReport
}

/** `/healthz`: the event loop turns. `/readyz`: writes are welcome here, and if not, why. */
export function healthRoutes(
  parts: readonly ReadinessPart[],
  gate: RequestGate,
): readonly ExtraRoute[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      name: 'healthz',
      handle: (exchange) => exchange.sendJson(200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      name: 'readyz',
      handle: (exchange) => {
        const reports = parts.map(({ name, report }) => [name, report()] as const)
        const ready = !gate.draining && reports.every(([, { status }]) => status !== 'down')
        exchange.sendJson(ready ? 200 : 503, {
          status: ready ? 'ready' : 'not_ready',
          draining: gate.draining,
          parts: Object.fromEntries(reports),
        })
      },
    },
  ]
}
