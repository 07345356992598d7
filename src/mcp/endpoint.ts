import type { Tool } from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import type { AuthenticatedKey } from '../auth/api-key.js'
import type { RateLimiter } from '../auth/rate-limit.js'
import { type BodyHead, type BodyResult, readBody } from '../http/body.js'
import { admit, payAsItComes, type RouteDeps } from '../http/deps.js'
import type { Exchange } from '../http/exchange.js'
import type { RequestHead } from '../http/request-head.js'
import type { DrilledHandlers } from '../operations/drilled-handler.js'
import { type AcceptedForm, acceptedForm, JSON_TYPE, STREAM_TYPE } from './accepted-form.js'
import { callTool, type McpCaller, type McpExchange, type ToolBinding } from './call-tool.js'
import { createEnvelopeCache, type EnvelopeCache } from './envelope-cache.js'
import { type McpHeaders, type PlainRequest, readPlainRequest } from './fast-path.js'
import { readJson } from './json.js'
import { asStream } from './one-message.js'
import { createPlainResponses, type ResponseBody } from './plain-responses.js'
import { createRepeatedCalls, readCallText } from './repeated-calls.js'
import type { SdkHandler } from './sdk-server.js'
import { sendResponse } from './send-response.js'
import type { ToolResult } from './tool-result.js'
import { waitingResult } from './waiting-call.js'

/**
 * Serves the message of one authenticated POST: by the fast path if it can, otherwise by the
 * protocol package.
 */

/** The package uses neither path nor host, but needs a URL to make a request. */
const REQUEST_URL = 'http://countersign.invalid/mcp'
/** The name of this endpoint's requests in traces. */
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
  /** Receives a trace that a message itself names; absent if no traces are collected. */
  readonly traces?: NonNullable<RouteDeps['traces']>
  /** `sdk-only` is used by the differential test for comparison. */
  readonly path: 'fast-and-sdk' | 'sdk-only'
}

interface McpEndpoint {
  /**
   * Call it in the route's callback; it ends the exchange.
   * @param bodyHead a length that it declares has already been paid for
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

  /** It has answered when it returns, or will. */
  function servePlain(
    exchange: Exchange,
    plain: PlainRequest,
    caller: McpCaller,
    form: AcceptedForm,
  ): void {
    const { era, idText } = plain
    if (plain.kind === 'list') {
      sendMessage(exchange, responses.list(era, idText), form)
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
        .then((value) => sendMessage(exchange, bodyOf(value), form))
        .catch((error: unknown) => exchange.fail(error))
    } else {
      sendMessage(exchange, bodyOf(result), form)
    }
  }

  /** Each message of a batch counts as a request; returns false if it has answered `429`. */
  function admitBatch(exchange: Exchange, body: unknown, rateLineage: string): boolean {
    const extra = Array.isArray(body) ? body.length - 1 : 0
    for (let i = 0; i < extra; i++) if (!admit(exchange, rateLimit, rateLineage)) return false
    return true
  }

  return {
    serve(exchange, head, caller, bodyHead) {
      const form = acceptedForm(head.accept)
      if (form === null) {
        exchange.sendJson(406, NOT_ACCEPTABLE)
        return
      }
      const headers: McpHeaders = {
        protocolVersion: head.mcpProtocolVersion,
        method: head.mcpMethod,
        // The package uses it only together with the other header.
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
            servePlain(exchange, again, { caller, requestId, logger, ...drill }, form)
            return
          }
          const json = readJson(bytes.value)
          if (json.kind === 'refused') {
            exchange.sendJson(400, invalidRequest(json.reason))
            return
          }
          const body = json.kind === 'json' ? withoutNullArguments(json.value) : undefined
          const envelope = envelopeOf(body)
          const traceparent = options.traces === undefined ? null : traceparentOf(envelope)
          if (traceparent !== null) options.traces?.heard(ROUTE, requestId, traceparent)
          const mcp: McpExchange = { caller, requestId, logger, envelope, ...drill }
          const plain =
            options.path === 'sdk-only'
              ? null
              : readPlainRequest(headers, body, bindings, envelopes)
          if (plain !== null) {
            // A message that names a trace belongs to that trace and never repeats unchanged.
            const comesAgain = plain.kind === 'call' && text !== null && traceparent === null
            if (comesAgain) repeated.learn(text, plain)
            servePlain(exchange, plain, mcp, form)
            return
          }
          if (!admitBatch(exchange, body, rateLineage)) return
          exchange.detach()
          const listens = methodOf(body) === 'subscriptions/listen'
          if (listens && form === 'json') {
            exchange.sendJson(406, NOT_ACCEPTABLE)
            return
          }
          const how = {
            outlives: listens ? 'nothing' : 'caller',
            form,
            isBatch: Array.isArray(body),
          } as const
          void sdk
            .serve(webRequest(bodyHead.contentType, headers), body, mcp)
            .then((response) => sendResponse(exchange, response, how))
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

/** Without a body: a JSON body is passed separately, so an empty one here means malformed. */
function webRequest(contentType: string, given: McpHeaders): Request {
  const headers = new Headers({
    'content-type': contentType === '' ? JSON_TYPE : contentType,
    // The Accept header was judged before, and decides how the answer is sent.
    accept: `${JSON_TYPE}, ${STREAM_TYPE}`,
  })
  if (given.protocolVersion !== '') headers.set('mcp-protocol-version', given.protocolVersion)
  if (given.method !== '') headers.set('mcp-method', given.method)
  if (given.name !== '') headers.set('mcp-name', given.name)
  return new Request(REQUEST_URL, { method: 'POST', headers })
}

function sendMessage(exchange: Exchange, body: ResponseBody, form: AcceptedForm): void {
  if (form === 'stream') {
    exchange.send({ status: 200, body: asStream(body), contentType: STREAM_TYPE })
  } else exchange.send({ status: 200, body })
}

const NOT_ACCEPTABLE = {
  jsonrpc: '2.0',
  error: {
    code: -32000,
    message: `Not Acceptable: answers are ${JSON_TYPE}, or ${STREAM_TYPE} where messages follow; the Accept header excludes both, or the one that this request needs.`,
  },
  id: null,
}

/** Spec silent: `arguments: null` in a tool call, which some hosts write, means no arguments. */
function withoutNullArguments(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutNullArguments)
  if (!isObject(body) || body.method !== 'tools/call') return body
  if (!isObject(body.params) || body.params.arguments !== null) return body
  const { arguments: _none, ...params } = body.params
  return { ...body, params }
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

/** By OpenTelemetry's MCP conventions, a message's own trace precedes its request's header. */
function traceparentOf(envelope: unknown): string | null {
  const given = isObject(envelope) ? envelope.traceparent : undefined
  return typeof given === 'string' ? given : null
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
