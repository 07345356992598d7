import type { Tool } from '@modelcontextprotocol/server'
import type { ToolArguments, ToolBinding } from './call-tool.js'
import type { KnownEnvelopes } from './known-envelopes.js'
import {
  HANDSHAKE_VERSIONS,
  META_KEYS,
  MODERN_VERSION,
  SERVER_INFO,
  TOOL_LIST_CACHE,
} from './protocol.js'
import { type ToolResult, toolResultJson } from './tool-result.js'

/**
 * The short way for requests in which nothing is left to decide: tools/list, and tools/call of a
 * known tool, in the plain form that clients send. Everything else, and everything doubtful, is
 * left to the protocol package; a differential test holds both ways to the same answers.
 *
 * Why: the package costs about 0.3 ms for a call and 1 ms for the list, this 0.02 ms.
 */

/** Header values, empty when absent. */
export interface McpHeaders {
  readonly accept: string
  readonly protocolVersion: string
  readonly method: string
  readonly name: string
}

type Era = 'handshake' | 'modern'
type RequestId = string | number

export type PlainRequest =
  | { readonly kind: 'list'; readonly era: Era; readonly id: RequestId }
  | {
      readonly kind: 'call'
      readonly era: Era
      readonly id: RequestId
      readonly tool: ToolBinding
      readonly args: ToolArguments
    }

type JsonObject = Readonly<Record<string, unknown>>

const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])
const LIST_FIELDS: ReadonlySet<string> = new Set(['_meta'])
const CALL_FIELDS: ReadonlySet<string> = new Set(['_meta', 'name', 'arguments'])
const NO_PARAMS: JsonObject = {}
const NO_ARGUMENTS: ToolArguments = {}

/** @returns null when the request is not plain */
export function readPlainRequest(
  headers: McpHeaders,
  body: unknown,
  tools: ReadonlyMap<string, ToolBinding>,
  envelopes: KnownEnvelopes,
): PlainRequest | null {
  if (!isObject(body) || !hasOnly(body, MESSAGE_FIELDS) || body.jsonrpc !== '2.0') return null
  const { id, method, params = NO_PARAMS } = body
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null
  if (!isObject(params)) return null
  const era = readEra(headers, method, params, envelopes)
  if (era === null) return null
  const requestId = id as RequestId
  if (method === 'tools/list') {
    return hasOnly(params, LIST_FIELDS) ? { kind: 'list', era, id: requestId } : null
  }
  if (method !== 'tools/call' || !hasOnly(params, CALL_FIELDS)) return null
  const { name, arguments: args = NO_ARGUMENTS } = params
  const tool = typeof name === 'string' ? tools.get(name) : undefined
  if (tool === undefined || !isObject(args) || Object.hasOwn(args, '__proto__')) return null
  if (era === 'modern' && headers.name !== name) return null
  return { kind: 'call', era, id: requestId, tool, args }
}

function readEra(
  headers: McpHeaders,
  method: unknown,
  params: JsonObject,
  envelopes: KnownEnvelopes,
): Era | null {
  const { accept, protocolVersion } = headers
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return null
  if (protocolVersion === MODERN_VERSION) {
    return headers.method === method && envelopes.has(params._meta) ? 'modern' : null
  }
  const isHandshake = protocolVersion === '' || HANDSHAKE_VERSIONS.includes(protocolVersion)
  return isHandshake && params._meta === undefined ? 'handshake' : null
}

const MODERN_META = `${JSON.stringify(META_KEYS.serverInfo)}:${JSON.stringify(SERVER_INFO)}`
const MODERN_SUFFIX = ',"resultType":"complete"'
const { ttlMs, cacheScope } = TOOL_LIST_CACHE

export interface PlainResponses {
  /** The whole body of the answer. */
  list(era: Era, id: RequestId): string
  call(era: Era, id: RequestId, result: ToolResult): string
}

export function createPlainResponses(tools: readonly Tool[]): PlainResponses {
  const listed = `"tools":${JSON.stringify(tools)}`
  const lists: Readonly<Record<Era, string>> = {
    handshake: `{${listed}}`,
    modern: `{${listed}${MODERN_SUFFIX},"ttlMs":${ttlMs},"cacheScope":"${cacheScope}","_meta":{${MODERN_META}}}`,
  }
  return {
    list: (era, id) => response(id, lists[era]),
    call: (era, id, result) =>
      response(
        id,
        era === 'modern'
          ? toolResultJson(result, MODERN_SUFFIX, MODERN_META)
          : toolResultJson(result, '', ''),
      ),
  }
}

function response(id: RequestId, result: string): string {
  return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hasOnly(object: JsonObject, fields: ReadonlySet<string>): boolean {
  for (const name in object) if (!fields.has(name)) return false
  return true
}
