import type { DocumentedOperation, Input } from './documented.js'

export interface PlannedRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, or null. */
  readonly body: string | null
}

/** The call as HTTP, without the key that makes it. */
export function plannedRequest(
  { method, path, fields, movesValue }: DocumentedOperation,
  input: Input,
  idempotencyKey: string,
  fault = '',
): PlannedRequest {
  const at = (place: string) => fields.filter((one) => one.place === place && one.name in input)
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(input[name] ?? '')),
  )
  const query = new URLSearchParams(at('query').map(({ name }) => [name, String(input[name])]))
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const body = Object.fromEntries(at('body').map(({ name }) => [name, input[name]]))
  return {
    method,
    path: query.size === 0 ? filled : `${filled}?${query}`,
    headers: {
      ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
      ...(movesValue && idempotencyKey !== '' ? { 'Idempotency-Key': idempotencyKey } : {}),
      ...(movesValue && fault !== '' ? { 'Countersign-Fault': fault } : {}),
    },
    body: hasBody ? JSON.stringify(body) : null,
  }
}
