import { RpcCallError, RpcShapeError } from './errors.js'
import type { RpcCall, RpcResult } from './types.js'

/** JSON-RPC 2.0 on the wire: serialises calls and reads answers back into their order. */

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

/** True for a call of a batch that the answer left out. */
export function isMissing(answer: RpcResult | undefined): boolean {
  return answer === undefined || answer === MISSING
}

const TOO_LARGE: RpcResult = { ok: false, error: new RpcShapeError('the answer is too large') }

/** The results of a request whose answer was too large to read, for one call or for all of them. */
export function tooLarge(count: number): RpcResult[] {
  return new Array<RpcResult>(count).fill(TOO_LARGE)
}

/**
 * True for a result that says nothing about this single call: another call of the request may have
 * been the large one.
 */
export function isTooLarge(answer: RpcResult | undefined): boolean {
  return answer === TOO_LARGE
}

/**
 * One object for a whole batch is a refusal of the batch ("batch too large", rate limits), even
 * when it has a result: used for all calls, a balance would become a price and a hash a receipt.
 * @returns answers by id, or null when the text is not a JSON-RPC answer to this many calls
 */
export function parseAnswers(text: string, count: number): RpcResult[] | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  if (Array.isArray(parsed)) return fromBatch(parsed, count)
  if (!isRecord(parsed) || !('result' in parsed || 'error' in parsed)) return null
  return count === 1 ? [resultOf(parsed)] : null
}

function fromBatch(parsed: readonly unknown[], count: number): RpcResult[] {
  const out: RpcResult[] = new Array<RpcResult>(count).fill(MISSING)
  for (const item of parsed) {
    if (!isRecord(item)) continue
    const index = indexOf(item.id)
    if (index < count) out[index] = resultOf(item)
  }
  return out
}

/** Ids are numbers here, and some gateways return them as digits. */
function indexOf(id: unknown): number {
  if (typeof id === 'number' && Number.isInteger(id) && id >= 0) return id
  return typeof id === 'string' && /^\d{1,6}$/.test(id) ? Number(id) : Number.POSITIVE_INFINITY
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
 * Retry-After (RFC 9110
 * 10.2.3): seconds or a date.
 * @returns milliseconds from `nowMs`, or null when absent or unreadable
 */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
