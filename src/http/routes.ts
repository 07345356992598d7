import { type ConsoleOperationName, consoleOperations } from '../api/console-operations.js'
import { eventStream } from '../api/console-streams.js'
import { type OperationName, operations } from '../api/operations.js'
import { fault } from '../errors/fault.js'
import type { AgentHandlers, ConsoleHandlers } from '../operations/context.js'
import type { AgentHandler } from '../operations/prepare-call.js'
import { createAgentRoute } from './agent-route.js'
import type { HttpRequest, HttpResponse, RoutedApp } from './app.js'
import { type ConsoleHandler, createConsoleRoute } from './console-route.js'
import type { RouteDeps, RouteHandler } from './deps.js'
import { createEventStreamRoute } from './event-stream-route.js'
import { Exchange, type ExchangeContext } from './exchange.js'
import type { RequestHead } from './request-head.js'

/**
 * Registers all routes of a server, and the answer for unknown paths. There are no CORS headers: an
 * API key belongs to a backend, and the console is served from the service's own origin, so pages
 * of other origins need no access.
 */

type RouteMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface Route {
  readonly method: RouteMethod
  /** A pattern of `RoutedApp`. */
  readonly path: string
  readonly handle: RouteHandler
}

/**
 * A route outside the operations tables (MCP, documents, the console's pages). `handle` owns the
 * exchange from then on and must end it in exactly one `send`, `refuse` or `fail`, at once or
 * later.
 */
export interface ExtraRoute {
  readonly method: RouteMethod
  readonly path: string
  /** Used in metrics and logs. */
  readonly name: string
  readonly handle: (exchange: Exchange, head: Readonly<RequestHead>) => void
}

export function operationRoutes(
  agent: AgentHandlers,
  console: ConsoleHandlers,
  deps: RouteDeps,
): Route[] {
  const agentHandlers: Readonly<Record<OperationName, AgentHandler>> = agent
  const consoleHandlers: Readonly<Record<ConsoleOperationName, ConsoleHandler>> = console
  return [
    ...operations.map((row) => ({
      method: row.method,
      path: row.path,
      handle: createAgentRoute(row, agentHandlers[row.name], deps),
    })),
    ...consoleOperations.map((row) => ({
      method: row.method,
      path: row.path,
      handle: createConsoleRoute(row, consoleHandlers[row.name], deps),
    })),
    {
      method: eventStream.method,
      path: eventStream.path,
      handle: createEventStreamRoute(console.list_events, deps),
    },
  ]
}

export function extraRoute(route: ExtraRoute, context: ExchangeContext): Route {
  return {
    method: route.method,
    path: route.path,
    handle: (response, request, form) => {
      Exchange.serve(context, route.name, response, request, form, route.handle)
    },
  }
}

const NO_SUCH_ROUTE = 'This path has no route. See /docs for all routes.'

/** Registers `routes`. Other methods on their paths get 405; other paths get 404. */
export function registerRoutes(
  app: RoutedApp,
  routes: readonly Route[],
  context: ExchangeContext,
): void {
  const byPath = new Map<string, Map<RouteMethod, RouteHandler>>()
  for (const route of routes) {
    const methods = byPath.get(route.path) ?? new Map<RouteMethod, RouteHandler>()
    if (methods.has(route.method)) throw new Error(`${route.method} ${route.path} is given twice`)
    methods.set(route.method, route.handle)
    byPath.set(route.path, methods)
  }
  for (const [path, methods] of byPath) registerPath(app, path, methods, context)
  const unknown: RouteHandler = (response, request, form) => {
    Exchange.serve(context, 'unknown_route', response, request, form, (exchange) => {
      exchange.refuse(fault('NOT_FOUND', {}, NO_SUCH_ROUTE))
    })
  }
  app.head('/*', headOnly(unknown))
  app.any('/*', whole(unknown))
}

function registerPath(
  app: RoutedApp,
  path: string,
  methods: ReadonlyMap<RouteMethod, RouteHandler>,
  context: ExchangeContext,
): void {
  const get = methods.get('GET')
  const allowed = [...methods.keys(), ...(get === undefined ? [] : ['HEAD']), 'OPTIONS'].join(', ')
  const notAllowed: RouteHandler = (response, request, form) => {
    Exchange.serve(context, 'method_not_allowed', response, request, form, (exchange) => {
      exchange.refuse(fault('METHOD_NOT_ALLOWED'), [['Allow', allowed]])
    })
  }
  // Each method is registered by name, because the router prefers a named method on a wider pattern
  // (GET /api/tx/:tx_id) to `any` on the exact path (/api/tx/send).
  app.get(path, whole(get ?? notAllowed))
  app.head(path, headOnly(get ?? notAllowed))
  app.post(path, whole(methods.get('POST') ?? notAllowed))
  app.patch(path, whole(methods.get('PATCH') ?? notAllowed))
  app.put(path, whole(methods.get('PUT') ?? notAllowed))
  app.del(path, whole(methods.get('DELETE') ?? notAllowed))
  app.options(path, (response, request) => {
    Exchange.serve(context, 'options', response, request, 'whole', (exchange) => {
      exchange.send({ status: 204, body: '', headers: [['Allow', allowed]] })
    })
  })
  app.any(path, whole(notAllowed))
}

type Served = (response: HttpResponse, request: HttpRequest) => void

function whole(handle: RouteHandler): Served {
  return (response, request) => handle(response, request, 'whole')
}

function headOnly(handle: RouteHandler): Served {
  return (response, request) => handle(response, request, 'head-only')
}
