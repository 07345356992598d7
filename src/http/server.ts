import type { Logger } from 'pino'
import type { AgentHandlers, ConsoleHandlers } from '../operations/context.js'
import type { AdapterName, Listener, RoutedApp } from './app.js'
import { dealOut, type Elsewhere } from './deal-out.js'
import type { RouteDeps } from './deps.js'
import { createEventStreams } from './event-stream.js'
import { createFrontDoor, type FrontDoor } from './front-door.js'
import { healthRoutes, type ReadinessPart } from './health-routes.js'
import type { HttpMetrics } from './metrics.js'
import {
  BODY_BYTES_IN_MEMORY_MAX,
  createRequestGate,
  IN_FLIGHT_REQUESTS_MAX,
} from './request-gate.js'
import { type ExtraRoute, extraRoute, operationRoutes, registerRoutes } from './routes.js'
import { type AppOptions, createApp } from './uws.js'

/** How long `close` waits for requests in flight before it gives them up. */
const DRAIN_TIMEOUT_MS = 10_000

export interface HttpServerOptions
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
  /** Default: the peer. */
  readonly clientAddress?: NonNullable<RouteDeps['clientAddress']>
  /** Default: none is refused before it is read. */
  readonly refusesWrite?: RouteDeps['refusesWrite']
  /** Default: no user's log has anything. */
  readonly readableSeq?: RouteDeps['readableSeq']
  /** Default: no list looks at anything. */
  readonly looksSoFar?: RouteDeps['looksSoFar']
  /** Of what comes by its own port; default: all is answered here. */
  readonly elsewhere?: Elsewhere | null
  readonly inFlightMax?: number
  readonly bodyBytesMax?: number
  readonly drainTimeoutMs?: number
  /** Default: one of its own, with the adapter that `auto` gives. */
  readonly door?: FrontDoor
}

export interface HttpServer {
  readonly adapter: AdapterName
  /**
   * @param port 0 picks a free one
   * @returns the port that was bound
   * @throws Error when the address cannot be bound, or the server listens already
   */
  listen(host: string, port: number): Promise<number>
  /** 0 before `listen`. */
  readonly port: number
  readonly inFlight: number
  /**
   * Has another app answer as this one does, by the same limits.
   * @param clientAddress whom its requests are counted against where that goes by address
   */
  answerOn(app: RoutedApp, clientAddress: NonNullable<RouteDeps['clientAddress']>): void
  /**
   * Stops accepting, lets requests in flight end, and closes each connection with its next
   * answer. Resolves with the number of requests given up after the time limit. Connections
   * that idle stay open and keep the event loop alive: exit the process after this.
   */
  close(): Promise<number>
}

/** A flood goes on for longer than its first line in the log. */
const FULL_SAID_MS = 10_000
let saidFullMs = Number.NEGATIVE_INFINITY

function sayFull(logger: Logger, isFull: boolean): void {
  if (!isFull || performance.now() - saidFullMs < FULL_SAID_MS) return
  saidFullMs = performance.now()
  logger.warn('too many connections are open: more are turned away until there is room')
}

/** The port of a server that says so when it is full. */
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
  const extras = [...healthRoutes(options.readiness ?? [], gate), ...(options.extraRoutes ?? [])]

  function register(app: RoutedApp, own: Pick<RouteDeps, 'clientAddress'>): void {
    const deps: RouteDeps = {
      refusesWrite: () => false,
      looksSoFar: () => 0,
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
        register(elsewhere === null ? app : dealOut(app, elsewhere), options),
      )
      return listener.port
    },
    get port() {
      return listener?.port ?? 0
    },
    get inFlight() {
      return gate.inFlight
    },
    answerOn: (app, clientAddress) => register(app, { clientAddress }),
    close() {
      listener?.close()
      listener = null
      return gate.drain(options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS)
    },
  }
}
