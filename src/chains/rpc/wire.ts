import { RpcCallError, RpcShapeError } from './errors.js'
import type { RpcCall, RpcResult } from './types.js'

/** JSON-RPC 2.0 on the wire: serialising calls and reading answers back into their order. */

/** One call without its envelope's id, which depends on its place in a request. */
export function serialiseCall(call: RpcCall): string {
  return `"method":${JSON.stringify(call.method)},"params":${JSON.stringify(call.params)}}`
}

/** @param calls texts of `serialiseCall`; ids are their indexes */
export function requestBody(calls: readonly { readonly text: string }[]): string {
  const [only] = calls
  if (calls.length === 1 && only !== undefined) return `{"jsonrpc":"2.0","id":0,${only.text}`
  let body = '['
  for (let i = 0; i < calls.length; i++) {
    body += `${i === 0 ? '' : ','}{"jsonrpc":"2.0","id":${i},${calls[i]?.text}`
  }
  return `${body}]`
}

const MISSING: RpcResult = {
  ok: false,
  error: new RpcShapeError('an answer of the batch is missing'),
}

/** @returns answers by id, or null when the text is no JSON-RPC answer */
export function parseAnswers(text: string, count: number): RpcResult[] | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  if (Array.isArray(parsed)) return fromBatch(parsed, count)
  if (!isRecord(parsed) || !('result' in parsed || 'error' in parsed)) return null
  const single = resultOf(parsed)
  // One object for a whole batch is a refusal of the batch ("batch too large", rate limits). A
  // result is one call's at most: taken for all, a balance would be a price and a hash a receipt.
  const each = count > 1 && single.ok ? MISSING : single
  return Array.from({ length: count }, () => each)
}

function fromBatch(parsed: readonly unknown[], count: number): RpcResult[] {
  const out: RpcResult[] = new Array<RpcResult>(count).fill(MISSING)
  for (const item of parsed) {
    if (!isRecord(item)) continue
    const id = item.id
    if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < count) {
      out[id] = resultOf(item)
    }
  }
  return out
}

function resultOf(answer: Record<string, unknown>): RpcResult {
  const { error } = answer
  if (error === undefined || error === null) return { ok: true, value: answer.result }
  if (!isRecord(error)) return { ok: false, error: new RpcCallError(0, String(error)) }
  const code = typeof error.code === 'number' ? error.code : 0
  const message = typeof error.message === 'string' ? error.message : 'no message'
  return { ok: false, error: new RpcCallError(code, message, error.data) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Retry-After (RFC 9110 §10.2.3): seconds or a date.
 * @returns milliseconds from `nowMs`, or null when absent or unreadable
 */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
