import type { TransactionView } from '../../src/api/transaction.js'

/** An answer of the service, with its body parsed where it is JSON. */
export interface Reply {
  readonly status: number
  /** The JSON object; empty for anything else. */
  readonly json: ReplyBody
  readonly text: string
  readonly headers: Headers
  /** `error.code`, where there is one. */
  readonly code: string | undefined
}

/** The fields that tests read out of answers; the route determines which of them an answer has. */
export interface ReplyBody {
  readonly tx_id?: string
  readonly tx_hash?: string
  readonly status?: string
  readonly nonce?: number
  readonly spend_usd?: string
  readonly key_id?: string
  readonly sub_wallet_id?: string
  readonly addresses?: { readonly evm: string }
  readonly webhook_id?: string
  readonly secret?: string
  readonly daily_used_usd?: string
  readonly monthly_used_usd?: string
  readonly reserved_usd?: string
  readonly transactions?: readonly TransactionView[]
  readonly keys?: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor?: string | null
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details: Readonly<Record<string, unknown>>
    readonly request_id: string
  }
  readonly [field: string]: unknown
}

export interface HttpClient {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>
  /** A body that is a string or bytes is sent unchanged. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
}

interface CallOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const TIMEOUT_MS = 90_000

/** @param baseUrl the address, or a function that returns it and is called for each request */
export function httpClient(
  baseUrl: string | (() => string),
  credentials: Readonly<Record<string, string>>,
): HttpClient {
  async function call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const { body } = options
    const raw = typeof body === 'string' || body instanceof Uint8Array
    const base = typeof baseUrl === 'string' ? baseUrl : baseUrl()
    const response = await fetch(base + path, {
      method,
      headers: {
        ...credentials,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = parsed(text)
    const { status, headers } = response
    return { status, json, text, headers, code: json.error?.code }
  }
  return {
    get: (path, headers = {}) => call('GET', path, { headers }),
    post: (path, body = {}, headers = {}) => call('POST', path, { body, headers }),
    call,
  }
}

function parsed(text: string): ReplyBody {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
