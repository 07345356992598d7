import type { CallToolResult } from '@modelcontextprotocol/server'
import { type ErrorResponse, errorBody } from '../api/error-body.js'
import { type KeptJson, keptJson } from '../api/json-text.js'
import type { Fault } from '../errors/fault.js'
import type { Answer } from '../operations/context.js'
import { REPLAYED_META_KEY } from './protocol.js'

/**
 * An operation's answer as a tool result. Only a success has structured content, because clients
 * validate it against the output schema, which a refusal does not match.
 */
export type ToolResult =
  | {
      readonly kind: 'value'
      readonly answer: Extract<Answer<unknown>, { readonly ok: true }>
      /** JSON of the answer's value. */
      readonly json: string
      /** Null for a value that is answered only once. */
      readonly kept: KeptJson | null
    }
  | { readonly kind: 'refusal'; readonly json: string }

export function toToolResult(answer: Answer<unknown>, requestId: string): ToolResult {
  if (!answer.ok) return refusalResult(answer.fault, requestId)
  // If the text exists already, the value is made only for the package, which needs it.
  if (answer.json !== undefined) return { kind: 'value', answer, json: answer.json, kept: null }
  const kept = keptJson(answer.value) ?? null
  return { kind: 'value', answer, json: kept?.json ?? JSON.stringify(answer.value), kept }
}

export function refusalResult(refusal: Fault, requestId: string): ToolResult {
  const body: ErrorResponse = errorBody(refusal, requestId)
  return { kind: 'refusal', json: JSON.stringify(body) }
}

/** The form that the protocol package takes. */
export function sdkToolResult(result: ToolResult): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: result.json }]
  if (result.kind === 'refusal') return { content, isError: true }
  const { answer } = result
  return {
    content,
    structuredContent: { ...(answer.value as Readonly<Record<string, unknown>>) },
    ...(answer.replayed === true ? { _meta: { [REPLAYED_META_KEY]: true } } : {}),
  }
}

/**
 * The first members of a result's JSON, without braces: all but `_meta` and what an era adds. Built
 * from existing JSON.
 */
export function resultMembers(result: ToolResult): string {
  const content = `"content":[{"type":"text","text":${JSON.stringify(result.json)}}]`
  return result.kind === 'refusal'
    ? `${content},"isError":true`
    : `${content},"structuredContent":${result.json}`
}

/** Members of the result's own `_meta`, without braces; empty if it has none. */
export function resultMeta(result: ToolResult): string {
  return result.kind === 'value' && result.answer.replayed === true ? REPLAYED_MEMBER : ''
}

const REPLAYED_MEMBER = `${JSON.stringify(REPLAYED_META_KEY)}:true`
