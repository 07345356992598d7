import type { RequestGate } from './request-gate.js'
import type { ExtraRoute } from './routes.js'

/**
 * A part's status in `/readyz`:
 *
 * || status | meaning |
 * ||---|---|
 * || up | works |
 * || degraded | some of its work is not done, see `reason`; the rest is |
 * || down | no call that moves value is accepted; reads continue as far as they can |
 */
export type PartStatus = 'up' | 'degraded' | 'down'

export interface PartReport {
  readonly status: PartStatus
  /**
   * A sentence for the operator on call; absent if the part is up. It contains no secret and no
   * path.
   */
  readonly reason?: string
  /** Further facts, in snake_case on the wire. */
  readonly [fact: string]: unknown
}

/** One thing that the service needs for its work. */
export interface ReadinessPart {
  readonly name: string
  /** Must be cheap, because load balancers ask often. */
  readonly report: () => PartReport
}

/**
 * Facts of a part that everybody may read besides its status. `/readyz` takes no credentials: reasons, versions,
 * addresses, heights and free space say more about an installation than a load balancer needs. The facts here
 * count entries and failovers of a journal or say that a node waits; commands that move a journal read them
 * from nodes whose credentials they do not have.
 *
 * The details need credentials: `get_service_status` takes a console token, the metrics port belongs to the
 * operator, and the nodes of a cluster ask each other with certificates.
 */
const SHOWN_TO_ALL: ReadonlySet<string> = new Set([
  'status',
  'standby',
  'loaded',
  'behind',
  'epoch',
  'hindered',
  'restored_percent',
  'id',
  'fenced',
])

/** A standby's part contains the part `lists` that it would report as the leader. */
const SHOWN_WITHIN = 'lists'

export function shownToAll(report: PartReport): PartReport {
  const facts = Object.entries(report).flatMap(([name, value]) => {
    if (SHOWN_TO_ALL.has(name)) return [[name, value]]
    return name === SHOWN_WITHIN && isReport(value) ? [[name, shownToAll(value)]] : []
  })
  return { status: report.status, ...Object.fromEntries(facts) }
}

export function partsShownToAll(parts: Readonly<Record<string, PartReport>>) {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, shownToAll(part)]))
}

function isReport(value: unknown): value is PartReport {
  return typeof value === 'object' && value !== null && 'status' in value
}

/** Whether writes are accepted, with the details of each part. */
export interface Readiness {
  readonly status: 'ready' | 'not_ready'
  readonly draining: boolean
  readonly parts: Readonly<Record<string, PartReport>>
}

export function readinessOf(
  parts: readonly ReadinessPart[],
  { draining }: Pick<RequestGate, 'draining'>,
): Readiness {
  const reports = parts.map(({ name, report }) => [name, report()] as const)
  const isReady = !draining && reports.every(([, { status }]) => status !== 'down')
  return {
    status: isReady ? 'ready' : 'not_ready',
    draining,
    parts: Object.fromEntries(reports),
  }
}

/**
 * `/healthz` tells that the event loop runs. `/readyz` tells whether this service accepts writes and, if not,
 * which part stops them.
 * @param shown selects what callers may read of the parts
 */
export function healthRoutes(
  readiness: () => Readiness,
  shown: (parts: Readiness['parts']) => Readiness['parts'],
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
        const { status, draining, parts } = readiness()
        exchange.sendJson(httpStatusOf({ status }), { status, draining, parts: shown(parts) })
      },
    },
  ]
}

export function httpStatusOf({ status }: Pick<Readiness, 'status'>): number {
  return status === 'ready' ? 200 : 503
}
