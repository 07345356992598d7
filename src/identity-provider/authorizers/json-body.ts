import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { readBounded } from '../login/bounded-body.js'

/** Enough for a registration with its attestation in base64url. */
const BODY_BYTES_MAX = 48 * 1024

/** A request that cannot be answered; the message is public. */
export class RequestRefusedError extends Error {
  readonly status: number
  readonly code: string
  /** Null when repeating the request later does not help. */
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    code: string,
    message: string,
    retryAfterSeconds: number | null = null,
  ) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
    this.name = 'RequestRefusedError'
    this.status = status
    this.code = code
  }
}

/** @throws RequestRefusedError when the body is not JSON of that schema, or larger than 48 KiB */
export async function readJson<S extends z.ZodType>(
  request: IncomingMessage,
  schema: S,
): Promise<z.output<S>> {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/json') {
    throw new RequestRefusedError(
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body as application/json.',
    )
  }
  const body = await readBounded(request, BODY_BYTES_MAX)
  if (body === null) {
    throw new RequestRefusedError(413, 'PAYLOAD_TOO_LARGE', 'The request body is too large.')
  }
  const parsed = schema.safeParse(parseJson(body.toString('utf8')))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue?.path.join('.') ?? ''
  throw invalid(`The request is malformed at "${where}": ${issue?.message ?? 'not as described'}.`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('The body is not JSON.')
  }
}

function invalid(message: string): RequestRefusedError {
  return new RequestRefusedError(400, 'INVALID_REQUEST', message)
}
