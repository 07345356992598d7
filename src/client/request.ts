import { ConnectionError, type ServiceError, serviceError } from './errors.js'
import type { Route } from './routes.js'

/**
 * One call: its request and its retries. A write is repeated only with an idempotency key, the same
 * in each attempt, so that a lost answer never becomes a second payment.
 */

export interface Transport {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Authentication, and headers that the caller adds. */
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof fetch
  /** Repetitions after the first attempt. */
  readonly retriesMax: number
  /** Time for one attempt, in milliseconds. */
  readonly timeoutMs: number
}

export interface CallOptions {
  /**
   * Identifies this payment: the same key never pays twice. Give your own, such as an invoice
   * number, if the payment must survive a crash of the caller. By default a random one is generated
   * for this call, and errors contain it.
   */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  /**
   * In a test environment, the fault to inject into this write (`Countersign-Fault`), in each
   * attempt.
   */
  readonly fault?: string
}

export type Input = Readonly<Record<string, unknown>>

const BACKOFF_MS_MIN = 250
const BACKOFF_MS_MAX = 8_000
/** If the service asks for a longer wait, the caller decides. */
const ASKED_MS_MAX = 60_000
/** With these codes nothing was done, so repeating is safe for any method. */
const UNTOUCHED: ReadonlySet<string> = new Set(['RATE_LIMITED', 'OVERLOADED', 'WRITES_STOPPED'])
/** Codes about the API key as of now: the very write whose answer was lost may have frozen it. */
const ABOUT_THE_KEY: ReadonlySet<string> = new Set([
  'FROZEN',
  'PERMISSION_DENIED',
  'CHAIN_NOT_ALLOWED',
])

export async function request(
  transport: Transport,
  route: Route,
  input: Input,
  options: CallOptions,
): Promise<unknown> {
  const isRepeatable = route.method === 'GET' || route.movesValue !== undefined
  const key = options.idempotencyKey ?? (route.movesValue === true ? crypto.randomUUID() : null)
  /**
   * The error of an attempt that may have been carried out; refusals of later attempts do not tell
   * its outcome.
   */
  let unheard: ServiceError | ConnectionError | null = null
  for (let attempt = 0; ; attempt++) {
    const outcome = await attemptOnce(transport, route, input, key, options)
    if (outcome.ok) return outcome.value
    const { error } = outcome
    if (error instanceof ConnectionError || error.code === 'OUTCOME_UNKNOWN') unheard = error
    const mayRepeat =
      error instanceof ConnectionError
        ? isRepeatable
        : UNTOUCHED.has(error.code) || (isRepeatable && error.retryable)
    const waitMs = backoffMs(attempt, error)
    const isLast = attempt >= transport.retriesMax || waitMs > ASKED_MS_MAX
    if (!mayRepeat || isLast || options.signal?.aborted === true) {
      const thrown = unheard !== null && saysNothingOfOthers(error) ? unheard : error
      thrown.idempotencyKey = key
      throw thrown
    }
    await pause(waitMs, options.signal)
  }
}

/** Whether the refusal came before the idempotency key was checked, or is only temporary. */
function saysNothingOfOthers(error: ServiceError | ConnectionError): boolean {
  if (error instanceof ConnectionError) return true
  return error.retryable || error.status === 401 || ABOUT_THE_KEY.has(error.code)
}

type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ServiceError | ConnectionError }

async function attemptOnce(
  transport: Transport,
  route: Route,
  input: Input,
  key: string | null,
  { signal, fault }: CallOptions,
): Promise<Outcome> {
  const { url, body } = address(transport.baseUrl, route, input)
  const headers: Record<string, string> = { accept: 'application/json', ...transport.headers }
  if (body !== null) headers['content-type'] = 'application/json'
  if (key !== null) headers['idempotency-key'] = key
  if (fault !== undefined) headers['countersign-fault'] = fault
  const timeout = AbortSignal.timeout(transport.timeoutMs)
  let response: Response
  let text: string
  try {
    response = await transport.fetch(url, {
      method: route.method,
      headers,
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body === null ? {} : { body }),
    })
    text = await response.text()
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason
    return { ok: false, error: new ConnectionError(`${route.path} did not answer`, { cause }) }
  }
  if (response.ok) {
    const value = parseJson(text)
    if (value !== undefined) return { ok: true, value }
    return { ok: false, error: new ConnectionError(`the answer of ${route.path} is not JSON`) }
  }
  return { ok: false, error: readError(response, text) }
}

function address(baseUrl: string, route: Route, input: Input) {
  const rest: Record<string, unknown> = { ...input }
  const path = route.path.replace(/:(\w+)/g, (_match, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  if (route.method === 'POST' || route.method === 'PATCH') {
    return { url: `${baseUrl}${path}`, body: JSON.stringify(rest) }
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined) query.set(name, String(value))
  }
  const text = query.toString()
  return { url: `${baseUrl}${path}${text === '' ? '' : `?${text}`}`, body: null }
}

function readError(response: Response, text: string): ServiceError {
  const { error } = (parseJson(text) ?? {}) as { readonly error?: Partial<WireError> }
  const retryAfter = response.headers.get('retry-after')
  return serviceError({
    code: error?.code ?? 'INTERNAL',
    message: error?.message ?? `status ${response.status} without an error body`,
    details: error?.details ?? {},
    requestId: error?.request_id ?? response.headers.get('x-request-id') ?? '',
    status: response.status,
    retryAfterSeconds:
      retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null,
  })
}

interface WireError {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly request_id: string
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Doubles with jitter, and is never less than the service asks for, however long that is. */
function backoffMs(attempt: number, error: ServiceError | ConnectionError): number {
  const ceiling = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** attempt)
  const jittered = ceiling * (0.5 + Math.random() / 2)
  const asked = error instanceof ConnectionError ? 0 : (error.retryAfterSeconds ?? 0) * 1_000
  return Math.max(jittered, asked)
}

/** Rejects with the signal's reason if it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = setTimeout(done, ms)
    function done() {
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    function abort() {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}
