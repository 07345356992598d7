import { z } from 'zod'
import { consoleClient, devTokenFor, type GlobalOptions, serviceUrl } from './connection.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'
import { loginFor } from './login-file.js'
import { signIn } from './sign-in.js'

/** The identity provider refused; nothing was done. */
export class AuthorizerRefusal extends Error {
  override readonly name = 'AuthorizerRefusal'
}

/** The identity provider's authorizer routes, with their own sign-in. */
export interface AuthorizerClient {
  readonly origin: string
  /**
   * @throws AuthorizerRefusal with the identity provider's message; Error when the outcome is
   * unknown
   */
  call(path: string, body?: object): Promise<AuthorizerAnswer>
}

const listed = z.object({
  authorizer_id: z.string(),
  kind: z.enum(['passkey', 'p256']),
  label: z.string(),
  created_at: z.string(),
  credential_id: z.string().nullable(),
})
export type ListedAuthorizer = z.infer<typeof listed>

const answer = z.object({
  user_id: z.string().optional(),
  status: z.enum(['done', 'approval_required']).optional(),
  ceremony_id: z.string().optional(),
  certificate: z.string().optional(),
  authorizers: z.array(listed).optional(),
  /** Set for a waiting call. */
  approval_id: z.string().optional(),
  state: z.enum(['open', 'approved', 'ended', 'expired']).optional(),
  term: z.string().optional(),
  expires_at: z.string().optional(),
  lines: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
})
export type AuthorizerAnswer = z.infer<typeof answer>

const failure = z.object({ error: z.object({ code: z.string(), message: z.string() }) })
const REQUEST_TIMEOUT_MS = 10_000

export interface AuthorizerOptions extends GlobalOptions {
  readonly issuer?: string
}

/** @throws UsageError when the identity provider's address is unknown, or nobody signs in */
export async function connectAuthorizers(
  io: Io,
  options: AuthorizerOptions,
): Promise<AuthorizerClient> {
  const origin = await originOf(io, options)
  const token =
    (await devTokenFor(io, options, ['--authorizers'])) ??
    (await signIn(io, origin, 'authorizers')).token
  return {
    origin,
    async call(path, body) {
      const response = await fetch(`${origin}/authorizers/api/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const json: unknown = await response.json().catch(() => null)
      if (response.ok) return answer.parse(json)
      const parsed = failure.safeParse(json)
      if (response.status >= 500 || !parsed.success) {
        throw new Error(`the identity provider answered HTTP ${response.status}`)
      }
      throw new AuthorizerRefusal(`the identity provider refused: ${parsed.data.error.message}`)
    },
  }
}

async function originOf(io: Io, options: AuthorizerOptions): Promise<string> {
  const given =
    options.issuer ??
    io.env.COUNTERSIGN_ISSUER ??
    loginFor(io, serviceUrl(io, options))?.identity_provider
  if (given !== undefined) return given.replace(/\/$/, '')
  const { manage_url } = await (await consoleClient(io, options)).listAuthorizers()
  if (manage_url === null) {
    throw new UsageError('set COUNTERSIGN_ISSUER to the address of the identity provider')
  }
  return new URL(manage_url).origin
}
