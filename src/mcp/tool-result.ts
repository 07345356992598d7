import type { CallToolResult } from '@modelcontextprotocol/server'
import { type ErrorResponse, errorBody } from '../api/error-body.js'
import { jsonText } from '../api/json-text.js'
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
    json: jsonText(value),
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
  const content = `"content":[{"type":"text","text":${JSON.stringify(result.json)}}]`
  const outcome =
    result.kind === 'refusal'
      ? `${content},"isError":true`
      : `${content},"structuredContent":${result.json}`
  const replayed =
    result.kind === 'value' && result.replayed ? `${JSON.stringify(REPLAYED_META_KEY)}:true` : ''
  const members = [replayed, meta].filter((part) => part !== '').join(',')
  return `{${outcome}${suffix}${members === '' ? '' : `,"_meta":{${members}}`}}`
}
