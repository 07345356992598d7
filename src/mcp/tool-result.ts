import type { CallToolResult } from '@modelcontextprotocol/server'
import { type ErrorResponse, errorBody } from '../api/error-body.js'
import { jsonText, quotedJsonText } from '../api/json-text.js'
import type { Fault } from '../errors/fault.js'
import type { Answer } from '../operations/context.js'
import { REPLAYED_META_KEY } from './protocol.js'

/**
 * An operation's answer as a tool result. Structured content on success alone: clients hold it
 * against the output schema, which a refusal does not fit.
 */
export type ToolResult =
  | {
      readonly kind: 'value'
      readonly value: Readonly<Record<string, unknown>>
      /** JSON of `value`. */
      readonly json: string
      readonly replayed: boolean
    }
  | { readonly kind: 'refusal'; readonly json: string }

export function toToolResult(answer: Answer<unknown>, requestId: string): ToolResult {
  if (!answer.ok) return refusalResult(answer.fault, requestId)
  const value = answer.value as Readonly<Record<string, unknown>>
  return {
    kind: 'value',
    value,
    json: answer.json ?? jsonText(value),
    replayed: answer.replayed === true,
  }
}

export function refusalResult(refusal: Fault, requestId: string): ToolResult {
  const body: ErrorResponse = errorBody(refusal, requestId)
  return { kind: 'refusal', json: JSON.stringify(body) }
}

/** The form the protocol package takes. */
export function sdkToolResult(result: ToolResult): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: result.json }]
  if (result.kind === 'refusal') return { content, isError: true }
  return {
    content,
    structuredContent: { ...result.value },
    ...(result.replayed ? { _meta: { [REPLAYED_META_KEY]: true } } : {}),
  }
}

/**
 * The same as JSON text, built from the JSON that is there already.
 * @param suffix further members, each with its leading comma
 * @param meta members of `_meta` beside the result's own, without braces
 */
export function toolResultJson(result: ToolResult, suffix: string, meta: string): string {
  if (result.kind === 'refusal') {
    return `{${textBlock(JSON.stringify(result.json))},"isError":true${suffix}${metaOf(meta)}}`
  }
  const members = result.replayed ? joinMembers(REPLAYED_MEMBER, meta) : meta
  // The value is at hand, so that a kept one need not be escaped again.
  const content = textBlock(quotedJsonText(result.value, result.json))
  return `{${content},"structuredContent":${result.json}${suffix}${metaOf(members)}}`
}

const REPLAYED_MEMBER = `${JSON.stringify(REPLAYED_META_KEY)}:true`

function textBlock(quotedText: string): string {
  return `"content":[{"type":"text","text":${quotedText}}]`
}

function joinMembers(first: string, others: string): string {
  return others === '' ? first : `${first},${others}`
}

function metaOf(members: string): string {
  return members === '' ? '' : `,"_meta":{${members}}`
}
