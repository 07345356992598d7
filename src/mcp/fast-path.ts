import type { ToolArguments, ToolBinding } from './call-tool.js'
import type { EnvelopeCache } from './envelope-cache.js'
import { HANDSHAKE_VERSIONS, MODERN_VERSION } from './protocol.js'

/**
 * Handles requests that leave nothing to decide: tools/list, and tools/call of a known tool, in the
 * plain form that clients send. Everything else, and everything doubtful, is left to the protocol
 * package; a differential test compares both.
 *
 * The package takes about 0.3 ms for a call and 1 ms for the list; this takes 0.02 ms.
 */

/** Header values, empty if absent. */
export interface McpHeaders {
  readonly protocolVersion: string
  readonly method: string
  readonly name: string
}

export type Era = 'handshake' | 'modern'

export interface PlainCall {
  readonly kind: 'call'
  readonly era: Era
  /** The request's id as JSON. */
  readonly idText: string
  readonly tool: ToolBinding
  readonly args: ToolArguments
  /** `params._meta`, found valid; undefined in the handshake era. */
  readonly envelope: unknown
}

export type PlainRequest =
  | { readonly kind: 'list'; readonly era: Era; readonly idText: string }
  | PlainCall

type JsonObject = Readonly<Record<string, unknown>>

const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])
const LIST_FIELDS: ReadonlySet<string> = new Set(['_meta'])
const CALL_FIELDS: ReadonlySet<string> = new Set(['_meta', 'name', 'arguments'])
const NO_PARAMS: JsonObject = {}
const NO_ARGUMENTS: ToolArguments = {}

/** @returns null if the request is not plain */
export function readPlainRequest(
  headers: McpHeaders,
  body: unknown,
  tools: ReadonlyMap<string, ToolBinding>,
  envelopes: EnvelopeCache,
): PlainRequest | null {
  if (!isObject(body) || !hasOnly(body, MESSAGE_FIELDS) || body.jsonrpc !== '2.0') return null
  const { id, method, params = NO_PARAMS } = body
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null
  if (!isObject(params)) return null
  const era = readEra(headers, method, params, envelopes)
  if (era === null) return null
  const idText = JSON.stringify(id)
  if (method === 'tools/list') {
    return hasOnly(params, LIST_FIELDS) ? { kind: 'list', era, idText } : null
  }
  if (method !== 'tools/call' || !hasOnly(params, CALL_FIELDS)) return null
  const { name, arguments: args = NO_ARGUMENTS } = params
  const tool = typeof name === 'string' ? tools.get(name) : undefined
  if (tool === undefined || !isObject(args) || Object.hasOwn(args, '__proto__')) return null
  if (era === 'modern' && headers.name !== name) return null
  return { kind: 'call', era, idText, tool, args, envelope: params._meta }
}

function readEra(
  headers: McpHeaders,
  method: unknown,
  params: JsonObject,
  envelopes: EnvelopeCache,
): Era | null {
  const era = namedEra(headers, method)
  if (era === 'modern') return envelopes.has(params._meta) ? era : null
  return params._meta === undefined ? era : null
}

/** The era that the headers of a plain request name; null if they are not plain. */
export function namedEra(headers: McpHeaders, method: unknown): Era | null {
  const { protocolVersion } = headers
  if (protocolVersion === MODERN_VERSION) return headers.method === method ? 'modern' : null
  const isHandshake = protocolVersion === '' || HANDSHAKE_VERSIONS.includes(protocolVersion)
  return isHandshake ? 'handshake' : null
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hasOnly(object: JsonObject, fields: ReadonlySet<string>): boolean {
  for (const name in object) if (!fields.has(name)) return false
  return true
}
