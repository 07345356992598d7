import type { Logger } from 'pino'
import type { AgentHandlers, ConsoleHandlers } from '../operations/context.js'
import type { AdapterName, Listener, RoutedApp } from './app.js'
import type { RouteDeps } from './deps.js'
import { createEventStreams } from './event-stream.js'
import { createFrontDoor, type FrontDoor } from './front-door.js'
import {
  healthRoutes,
  partsShownToAll,
  type Readiness,
  type ReadinessPart,
  readinessOf,
} from './health-routes.js'
import type { HttpMetrics } from './metrics.js'
import {
  BODY_BYTES_IN_MEMORY_MAX,
  createRequestGate,
  IN_FLIGHT_REQUESTS_MAX,
} from './request-gate.js'
import { type Elsewhere, routeByPartition } from './route-by-partition.js'
import { type ExtraRoute, extraRoute, operationRoutes, registerRoutes } from './routes.js'
import { type AppOptions, createApp } from './uws.js'

/** How long `close` waits for requests in flight before it abandons them. */
const DRAIN_TIMEOUT_MS = 10_000

interface HttpServerOptions
  extends Pick<
    RouteDeps,
    | 'authenticate'
    | 'verifyConsole'
    | 'isMember'
    | 'remembersConsole'
    | 'rateLimit'
    | 'failedAuthentications'
    | 'unverifiedTokens'
  > {
  readonly agent: AgentHandlers
  readonly console: ConsoleHandlers
  readonly logger: Logger
  readonly metrics: HttpMetrics
  readonly traces?: NonNullable<RouteDeps['traces']>
  readonly extraRoutes?: readonly ExtraRoute[]
  readonly readiness?: readonly ReadinessPart[]
  /** Defaults to the peer's address. */
  readonly clientAddress?: NonNullable<RouteDeps['clientAddress']>
  /** By default no write is refused before it is read. */
  readonly refusesWrite?: RouteDeps['refusesWrite']
  /** By default every user's log is empty. */
  readonly readableSeq?: RouteDeps['readableSeq']
  /** By default no rows are scanned. */
  readonly rowsScanned?: RouteDeps['rowsScanned']
  /** Forwards requests that arrive at the port; by default all are answered here. */
  readonly elsewhere?: Elsewhere | null
  readonly inFlightMax?: number
  readonly bodyBytesMax?: number
  readonly drainTimeoutMs?: number
  /** Defaults to a new one, with the adapter that `auto` selects. */
  readonly door?: FrontDoor
}

export interface HttpServer {
  readonly adapter: AdapterName
  /**
   * @param port 0 picks a free one
   * @returns the port that was bound
   * @throws Error if the address cannot be bound or the server already listens
   */
  listen(host: string, port: number): Promise<number>
  /** 0 before `listen`. */
  readonly port: number
  readonly inFlight: number
  /** Returns the details too, which not everybody may read. */
  readonly readiness: () => Readiness
  /**
   * Makes another app answer as this one does, within the same limits. Only other nodes reach it, so its
   * `/readyz` has the details.
   * @param clientAddress returns the address that limits by address count
   */
  answerOn(app: RoutedApp, clientAddress: NonNullable<RouteDeps['clientAddress']>): void
  /**
   * Stops accepting, lets requests in flight end, and closes each connection with its next answer.
   * Resolves to the number of requests abandoned after the time limit. Idle connections stay open
   * and keep the event loop alive, so exit the process after this.
   */
  close(): Promise<number>
}

/** Pause between two log lines of a flood that continues. */
const FULL_SAID_MS = 10_000
let saidFullMs = Number.NEGATIVE_INFINITY

function sayFull(logger: Logger, isFull: boolean): void {
  if (!isFull || performance.now() - saidFullMs < FULL_SAID_MS) return
  saidFullMs = performance.now()
  logger.warn('too many connections are open, so new ones are refused until some have closed')
}

/** Opens a listener that logs when it is full. */
export function openFrontDoor(
  options: Pick<AppOptions, 'adapter' | 'descriptorsMax'>,
  logger: Logger,
): FrontDoor {
  return createFrontDoor(createApp({ ...options, onFull: (isFull) => sayFull(logger, isFull) }))
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const gate = createRequestGate({
    inFlightMax: options.inFlightMax ?? IN_FLIGHT_REQUESTS_MAX,
    bodyBytesMax: options.bodyBytesMax ?? BODY_BYTES_IN_MEMORY_MAX,
  })
  const door = options.door ?? openFrontDoor({}, options.logger)
  const { readableSeq = () => 0, elsewhere = null } = options
  const streams = createEventStreams({
    ...{ readableSeq, nowMs: Date.now, monotonicMs: () => performance.now() },
    isDraining: () => gate.draining,
  })
  const readiness = () => readinessOf(options.readiness ?? [], gate)
  const { extraRoutes = [] } = options

  function register(
    app: RoutedApp,
    own: Pick<RouteDeps, 'clientAddress'>,
    shown: Parameters<typeof healthRoutes>[1],
  ): void {
    const extras = [...healthRoutes(readiness, shown), ...extraRoutes]
    const deps: RouteDeps = {
      refusesWrite: () => false,
      rowsScanned: () => 0,
      ...options,
      ...own,
      ...{ gate, streams, readableSeq },
      writeHeaders: app.writeHeaders,
    }
    const routes = [
      ...operationRoutes(options.agent, options.console, deps),
      ...extras.map((route) => extraRoute(route, deps)),
    ]
    registerRoutes(app, routes, deps)
  }

  let listener: Listener | null = null

  return {
    adapter: door.app.adapter,
    async listen(host, port) {
      if (listener !== null) throw new Error('the server listens already')
      listener = await door.open(host, port, (app) =>
        register(
          elsewhere === null ? app : routeByPartition(app, elsewhere),
          options,
          partsShownToAll,
        ),
      )
      return listener.port
    },
    get port() {
      return listener?.port ?? 0
    },
    get inFlight() {
      return gate.inFlight
    },
    readiness,
    answerOn: (app, clientAddress) => register(app, { clientAddress }, (parts) => parts),
    close() {
      listener?.close()
      listener = null
      return gate.drain(options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS)
    },
  }
}
