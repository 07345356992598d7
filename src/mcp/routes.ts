import type { Logger } from 'pino'
import { type OperationName, operations } from '../api/operations.js'
import { presentedKey } from '../auth/presented-key.js'
import { fault } from '../errors/fault.js'
import { readBodyHead } from '../http/body.js'
import { admitWithBody, type RouteDeps, refuseUnauthenticated } from '../http/deps.js'
import type { Exchange } from '../http/exchange.js'
import type { RequestHead } from '../http/request-head.js'
import type { ExtraRoute } from '../http/routes.js'
import type { AgentHandlers } from '../operations/context.js'
import type { AgentHandler } from '../operations/prepare-call.js'
import type { ToolBinding } from './call-tool.js'
import { createEndpoint } from './endpoint.js'
import { createEnvelopeCache } from './envelope-cache.js'
import { createOriginCheck, LOOPBACK_HOSTS, type OriginCheck } from './origin-check.js'
import { createSdkHandler, createToolCall, type ServerExtension } from './sdk-server.js'
import { chosenToolRows, describeTool, toolRows } from './tools.js'

/**
 * `/mcp` serves the operations table as MCP tools. Order of checks: Host and Origin → key → rate →
 * body, and then those of each call. No OAuth is advertised; a key in a header is the only way in.
 */

export interface McpRoutesOptions
  extends Pick<
    RouteDeps,
    'authenticate' | 'rateLimit' | 'failedAuthentications' | 'traces' | 'drilled'
  > {
  readonly agent: AgentHandlers
  readonly logger: Logger
  /**
   * Names under which this service is reached, without port. The `Host` header, and `Origin` if
   * present, must name one of them. Defaults to loopback.
   */
  readonly allowedHosts?: readonly string[]
  /** Whether agents may make keys with a tool, listed after the specification's. Defaults to no. */
  readonly subKeyTool?: boolean
  /** `sdk-only` turns the fast path off, for the test that compares both. Defaults to both. */
  readonly path?: 'fast-and-sdk' | 'sdk-only'
  /**
   * Extends each server of the protocol package, for example with fixtures of a conformance run.
   */
  readonly extend?: ServerExtension
}

const PATH = '/mcp'

export function createMcpRoutes(options: McpRoutesOptions): ExtraRoute[] {
  const { logger, rateLimit } = options
  const handlers: Readonly<Record<OperationName, AgentHandler>> = options.agent
  const chosen = options.subKeyTool === true ? chosenToolRows(operations) : []
  const rows = [...toolRows(operations), ...chosen]
  const tools = rows.map(describeTool)
  const bindings = new Map<string, ToolBinding>(
    rows.map((row) => [row.name, { row, handler: handlers[row.name] }]),
  )
  const boundTo = (name: OperationName): ToolBinding => {
    const row = operations.find((one) => one.name === name)
    if (row === undefined) throw new Error(`no operation ${name}`)
    return { row, handler: handlers[name] }
  }
  const envelopes = createEnvelopeCache()
  const taskOperations = {
    status: boundTo('get_transaction_status'),
    withdraw: boundTo('withdraw_transaction'),
  }
  const call = createToolCall(bindings, taskOperations)
  const endpoint = createEndpoint({
    tools,
    bindings,
    envelopes,
    sdk: createSdkHandler({
      tools,
      call,
      tasks: taskOperations,
      envelopes,
      logger,
      ...(options.extend === undefined ? {} : { extend: options.extend }),
    }),
    rateLimit,
    logger,
    path: options.path ?? 'fast-and-sdk',
    ...(options.traces === undefined ? {} : { traces: options.traces }),
    ...(options.drilled === undefined ? {} : { drilled: options.drilled }),
  })
  const origins = createOriginCheck(options.allowedHosts ?? LOOPBACK_HOSTS)
  return [
    {
      method: 'POST',
      path: PATH,
      name: 'mcp',
      handle: (exchange, head) => {
        if (!isOurs(exchange, head, origins)) return
        const presented = presentedKey(head.xApiKey, head.authorization)
        const authenticated = presented.ok ? options.authenticate(presented.value) : presented
        if (!authenticated.ok) {
          const count = () => options.failedAuthentications.take(exchange.clientAddress())
          refuseUnauthenticated(exchange, count, authenticated.fault)
          return
        }
        const caller = authenticated.value
        exchange.wipeAfterwards(caller.proofKey)
        const bodyHead = readBodyHead(head)
        if (!admitWithBody(exchange, rateLimit, caller.rateLineage, bodyHead.declaredBytes)) return
        endpoint.serve(exchange, head, caller, bodyHead)
      },
    },
  ]
}

/** Returns false if it has answered `403`. */
function isOurs(exchange: Exchange, head: Readonly<RequestHead>, origins: OriginCheck): boolean {
  const stranger = !origins.hostAllowed(head.host)
    ? 'Host'
    : origins.originAllowed(head.origin)
      ? null
      : 'Origin'
  if (stranger === null) return true
  const message = `The ${stranger} header does not name a host of this service.`
  exchange.refuse(fault('PERMISSION_DENIED', { header: stranger }, message))
  return false
}
