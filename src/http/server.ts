import type { Logger } from 'pino'
import type { AgentHandlers, ConsoleHandlers } from '../operations/context.js'
import type { AdapterName, Listener } from './app.js'
import type { RouteDeps } from './deps.js'
import { healthRoutes, type ReadinessPart } from './health-routes.js'
import type { HttpMetrics } from './metrics.js'
import {
  BODY_BYTES_IN_MEMORY_MAX,
  createRequestGate,
  IN_FLIGHT_REQUESTS_MAX,
} from './request-gate.js'
import { type ExtraRoute, extraRoute, operationRoutes, registerRoutes } from './routes.js'
import { type AdapterChoice, createApp } from './uws.js'

/** How long `close` waits for requests in flight before it gives them up. */
const DRAIN_TIMEOUT_MS = 10_000

export interface HttpServerOptions
  extends Pick<
    RouteDeps,
    | 'authenticate'
    | 'verifyConsole'
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
  /** Default: none is refused before it is read. */
  readonly refusesWrite?: RouteDeps['refusesWrite']
  readonly inFlightMax?: number
  readonly drainTimeoutMs?: number
  /** Default `auto`. */
  readonly adapter?: AdapterChoice
  /** As `AppOptions` has it. */
  readonly descriptorsMax?: number
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

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const gate = createRequestGate({
    inFlightMax: options.inFlightMax ?? IN_FLIGHT_REQUESTS_MAX,
    bodyBytesMax: BODY_BYTES_IN_MEMORY_MAX,
  })
  const app = createApp({
    adapter: options.adapter ?? 'auto',
    onFull: (isFull) => sayFull(options.logger, isFull),
    ...(options.descriptorsMax === undefined ? {} : { descriptorsMax: options.descriptorsMax }),
  })
  const deps: RouteDeps = {
    refusesWrite: () => false,
    ...options,
    gate,
    writeHeaders: app.writeHeaders,
  }
  const extras = [...healthRoutes(options.readiness ?? [], gate), ...(options.extraRoutes ?? [])]
  registerRoutes(
    app,
    [
      ...operationRoutes(options.agent, options.console, deps),
      ...extras.map((route) => extraRoute(route, deps)),
    ],
    deps,
  )
  let listener: Listener | null = null

  return {
    adapter: app.adapter,
    async listen(host, port) {
      if (listener !== null) throw new Error('the server listens already')
      listener = await app.listen(host, port)
      return listener.port
    },
    get port() {
      return listener?.port ?? 0
    },
    get inFlight() {
      return gate.inFlight
    },
    close() {
      listener?.close()
      listener = null
      return gate.drain(options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS)
    },
  }
}
