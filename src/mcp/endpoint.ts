import type { Tool } from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import type { AuthenticatedKey } from '../auth/api-key.js'
import type { RateLimiter } from '../auth/rate-limit.js'
import { type BodyHead, type BodyResult, readBody } from '../http/body.js'
import { admit, payAsItComes, type RouteDeps } from '../http/deps.js'
import type { Exchange } from '../http/exchange.js'
import type { RequestHead } from '../http/request-head.js'
import type { DrilledHandlers } from '../operations/drilled-handler.js'
import { callTool, type McpCaller, type McpExchange, type ToolBinding } from './call-tool.js'
import { createEnvelopeCache, type EnvelopeCache } from './envelope-cache.js'
import { type McpHeaders, type PlainRequest, readPlainRequest } from './fast-path.js'
import { readJson } from './json.js'
import { createPlainResponses } from './plain-responses.js'
import { createRepeatedCalls, readCallText } from './repeated-calls.js'
import type { SdkHandler } from './sdk-server.js'
import { sendResponse } from './send-response.js'
import type { ToolResult } from './tool-result.js'
import { waitingResult } from './waiting-call.js'

/** Serves the message of one authenticated POST: by the short way where it can, else by the package. */

/** The package reads paths and hosts nowhere; a URL is needed to make a request at all. */
const REQUEST_URL = 'http://countersign.invalid/mcp'
/** As traces know requests of this endpoint. */
const ROUTE = 'mcp'

const NO_DRILL = {}

export interface EndpointOptions {
  readonly tools: readonly Tool[]
  readonly bindings: ReadonlyMap<string, ToolBinding>
  readonly envelopes?: EnvelopeCache
  readonly sdk: SdkHandler
  readonly rateLimit: RateLimiter
  /** As in `RouteDeps`. */
  readonly drilled?: DrilledHandlers
  readonly logger: Logger
  /** Told of a trace that a message names itself; absent where nobody collects traces. */
  readonly traces?: NonNullable<RouteDeps['traces']>
  /** `sdk-only` is what the differential test compares with. */
  readonly path: 'fast-and-sdk' | 'sdk-only'
}

export interface McpEndpoint {
  /**
   * Must be called in the route's own callback; ends the exchange.
   * @param bodyHead a length that it declares is paid for by now
   */
  serve(
    exchange: Exchange,
    head: Readonly<RequestHead>,
    caller: AuthenticatedKey,
    bodyHead: BodyHead,
  ): void
}

export function createEndpoint(options: EndpointOptions): McpEndpoint {
  const { bindings, sdk, logger, rateLimit, drilled = null } = options
  const envelopes = options.envelopes ?? createEnvelopeCache()
  const repeated = createRepeatedCalls()
  const responses = createPlainResponses(options.tools)

  /** Has answered when it returns, or will. */
  function servePlain(exchange: Exchange, plain: PlainRequest, caller: McpCaller): void {
    const { era, idText } = plain
    if (plain.kind === 'list') {
      exchange.send({ status: 200, body: responses.list(era, idText) })
      return
    }
    const { tool, args, envelope } = plain
    const bodyOf = (result: ToolResult) => {
      const waiting = waitingResult(tool.row.name, args, result, envelope)
      return waiting === null
        ? responses.call(era, idText, result)
        : responses.waiting(idText, waiting)
    }
    const result = callTool(tool, args, caller)
    if (result instanceof Promise) {
      exchange.detach()
      void result
        .then((value) => exchange.send({ status: 200, body: bodyOf(value) }))
        .catch((error: unknown) => exchange.fail(error))
    } else {
      exchange.send({ status: 200, body: bodyOf(result) })
    }
  }

  /** Each message of a batch counts as a request; false when it has answered `429`. */
  function admitBatch(exchange: Exchange, body: unknown, rateLineage: string): boolean {
    const extra = Array.isArray(body) ? body.length - 1 : 0
    for (let i = 0; i < extra; i++) if (!admit(exchange, rateLimit, rateLineage)) return false
    return true
  }

  return {
    serve(exchange, head, caller, bodyHead) {
      const headers: McpHeaders = {
        accept: head.accept,
        protocolVersion: head.mcpProtocolVersion,
        method: head.mcpMethod,
        // The package looks at it only with the other.
        name: head.mcpMethod === '' ? '' : head.mcpName,
      }
      const { countersignFault } = head
      const drill =
        countersignFault === '' ? NO_DRILL : { drill: { header: countersignFault, drilled } }
      const { rateLineage } = caller
      const serveBody = (bytes: BodyResult): void => {
        try {
          if (!bytes.ok) {
            exchange.refuse(bytes.fault)
            return
          }
          const { requestId } = exchange
          const text = options.path === 'sdk-only' ? null : readCallText(bytes.value)
          const again = text === null ? null : repeated.find(headers, text)
          if (again !== null) {
            servePlain(exchange, again, { caller, requestId, logger, ...drill })
            return
          }
          const json = readJson(bytes.value)
          if (json.kind === 'refused') {
            exchange.sendJson(400, invalidRequest(json.reason))
            return
          }
          const body = json.kind === 'json' ? json.value : undefined
          const envelope = envelopeOf(body)
          const traceparent = options.traces === undefined ? null : traceparentOf(envelope)
          if (traceparent !== null) options.traces?.heard(ROUTE, requestId, traceparent)
          const mcp: McpExchange = { caller, requestId, logger, envelope, ...drill }
          const plain =
            options.path === 'sdk-only'
              ? null
              : readPlainRequest(headers, body, bindings, envelopes)
          if (plain !== null) {
            // One that names a trace is of that trace, and never comes again as it was.
            const comesAgain = plain.kind === 'call' && text !== null && traceparent === null
            if (comesAgain) repeated.learn(text, plain)
            servePlain(exchange, plain, mcp)
            return
          }
          if (!admitBatch(exchange, body, rateLineage)) return
          exchange.detach()
          const outlives = methodOf(body) === 'subscriptions/listen' ? 'nothing' : 'caller'
          void sdk
            .serve(webRequest(bodyHead.contentType, headers), body, mcp)
            .then((response) => sendResponse(exchange, response, outlives))
            .catch((error: unknown) => exchange.fail(error))
        } catch (error) {
          exchange.fail(error)
        }
      }
      const pay = payAsItComes(exchange, rateLimit, rateLineage, bodyHead.declaredBytes)
      readBody(exchange, bodyHead, 'json', serveBody, pay)
    },
  }
}

/** Without a body: where the body was JSON it is passed along, else empty means malformed. */
function webRequest(contentType: string, given: McpHeaders): Request {
  const headers = new Headers({
    'content-type': contentType === '' ? 'application/json' : contentType,
  })
  if (given.accept !== '') headers.set('accept', given.accept)
  if (given.protocolVersion !== '') headers.set('mcp-protocol-version', given.protocolVersion)
  if (given.method !== '') headers.set('mcp-method', given.method)
  if (given.name !== '') headers.set('mcp-name', given.name)
  return new Request(REQUEST_URL, { method: 'POST', headers })
}

function invalidRequest(reason: string): object {
  return {
    jsonrpc: '2.0',
    error: { code: -32600, message: `Invalid Request: ${reason}` },
    id: null,
  }
}

function methodOf(body: unknown): unknown {
  return isObject(body) ? body.method : undefined
}

function envelopeOf(body: unknown): unknown {
  return isObject(body) && isObject(body.params) ? body.params._meta : undefined
}

/** By the MCP conventions of OpenTelemetry: a message's own goes before its request's header. */
function traceparentOf(envelope: unknown): string | null {
  const given = isObject(envelope) ? envelope.traceparent : undefined
  return typeof given === 'string' ? given : null
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
