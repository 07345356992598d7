import type { RequestGate } from './request-gate.js'
import type { ExtraRoute } from './routes.js'

/** One thing the service cannot do its work without. */
export interface ReadinessCheck {
  readonly name: string
  /** Must be cheap: load balancers ask often. */
  readonly isReady: () => boolean
}

/** `/healthz`: the event loop turns. `/readyz`: new requests are welcome here. */
export function healthRoutes(
  checks: readonly ReadinessCheck[],
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
        const results = checks.map((check) => [check.name, check.isReady()] as const)
        const ready = !gate.draining && results.every(([, isReady]) => isReady)
        exchange.sendJson(ready ? 200 : 503, {
          status: ready ? 'ready' : 'not_ready',
          draining: gate.draining,
          checks: Object.fromEntries(results),
        })
      },
    },
  ]
}
