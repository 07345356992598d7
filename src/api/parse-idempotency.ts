import { createHash } from 'node:crypto'
import { ok, type Result, refuse } from '../errors/fault.js'
import { invalidAt } from './parse.js'

/**
 * Decides whether two requests are the same: by the caller's Idempotency-Key (IETF httpapi draft)
 * and a hash of the request. Shared by REST headers and the MCP `idempotency_key` argument.
 */

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
const KEY_RULE = 'must be 1 to 255 visible ASCII characters'

/**
 * Reads `Idempotency-Key` and its alias `X-Idempotency-Key`; an empty string means an absent
 * header.
 * @returns the key, or null if neither is present
 */
export function parseIdempotencyKey(standard: string, alias: string): Result<string | null> {
  if (standard !== '' && alias !== '' && standard !== alias) {
    return refuse(invalidAt('X-Idempotency-Key', 'differs from Idempotency-Key'))
  }
  const key = standard === '' ? alias : standard
  if (key === '') return ok(null)
  if (!IDEMPOTENCY_KEY.test(key)) return refuse(invalidAt('Idempotency-Key', KEY_RULE))
  return ok(key)
}

/**
 * Hex SHA-256 of the operation's name and the canonical JSON of its parsed input, so that field
 * order and white space make no difference.
 */
export function hashRequest(operationName: string, input: unknown): string {
  return createHash('sha256')
    .update(operationName)
    .update('\n')
    .update(canonicalJson(input))
    .digest('hex')
}

/**
 * JSON with sorted keys. Recursion is safe: the input has passed its schema, and no schema of the
 * wire is recursive.
 */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`)
  return `{${fields.join(',')}}`
}
