import { hash } from 'node:crypto'
import { parseIdempotencyKey } from '../api/parse-idempotency.js'
import { isSecret } from '../auth/api-key.js'
import type { TxId } from '../domain/ids.js'
import type { Reader } from '../store/reader.js'

/**
 * Finds the transaction of a call that another node began but did not answer, by the
 * Idempotency-Key in this node's store. The caller must present the secret of the same key.
 * @param headers names and values, alternating
 * @returns null if the store has no such call, or not yet
 */
export function findKnownCall(
  reader: Pick<Reader, 'fresh'>,
  headers: readonly string[],
): TxId | null {
  const secret = headerOf(headers, 'x-api-key')
  if (!isSecret(secret)) return null
  const asked = parseIdempotencyKey(
    headerOf(headers, 'idempotency-key'),
    headerOf(headers, 'x-idempotency-key'),
  )
  if (!asked.ok || asked.value === null) return null
  const { keys, idempotency } = reader.fresh()
  const key = keys.byHash(hash('sha256', secret))
  return key === undefined ? null : (idempotency.byKey(key.lineageId, asked.value)?.txId ?? null)
}

function headerOf(headers: readonly string[], name: string): string {
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === name) return headers[at + 1] ?? ''
  }
  return ''
}
