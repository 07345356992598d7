import type { IncomingMessage, ServerResponse } from 'node:http'
import type Provider from 'oidc-provider'
import type { WebAuthnPins } from '../../quorum-protocol/registry.js'
import type { TokenVerifier } from '../vault/console-token.js'
import { RequestRefusedError } from './json-body.js'

/** The person who sends a request, and the time of their sign-in. */
export interface Visitor {
  readonly userId: string
  /** The time of the sign-in with the password, in milliseconds since the epoch. */
  readonly signedInAtMs: number
}

export interface VisitorDeps {
  readonly provider: Provider
  /** Verifies a bearer token made for these routes; a console token does not count. */
  readonly verifyToken: TokenVerifier
  readonly webauthn: () => WebAuthnPins | null
}

const TOKEN_CHARS_MAX = 8_192
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i

/** Returns the browser's session; null when nobody is signed in. */
export async function sessionVisitor(
  { provider }: VisitorDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Visitor | null> {
  const session = await provider.Session.get(provider.createContext(request, response))
  const { accountId, loginTs } = session
  if (accountId === undefined || loginTs === undefined) return null
  return { userId: accountId, signedInAtMs: loginTs * 1_000 }
}

/**
 * Accepts a bearer token of the command line, or the session of this origin's page.
 * @throws RequestRefusedError 401, or 403 for a page of another origin
 */
export async function requireVisitor(
  deps: VisitorDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Visitor> {
  const { authorization, origin } = request.headers
  if (authorization !== undefined) return { ...(await bearerVisitor(deps, authorization)) }
  // The cookie is SameSite=Lax; the origin is checked too, because what is signed here moves money.
  const ours = deps.webauthn()?.origins ?? []
  if (request.method !== 'GET' && (origin === undefined || !ours.includes(origin))) {
    throw new RequestRefusedError(403, 'WRONG_ORIGIN', 'Use the page of the identity provider.')
  }
  const visitor = await sessionVisitor(deps, request, response)
  if (visitor === null) throw unauthenticated('Sign in first.')
  return visitor
}

async function bearerVisitor(deps: VisitorDeps, authorization: string): Promise<Visitor> {
  const token =
    authorization.length <= TOKEN_CHARS_MAX ? BEARER.exec(authorization)?.[1] : undefined
  if (token === undefined) throw unauthenticated('Send Authorization: Bearer <JWT>.')
  try {
    const { personId: userId } = await deps.verifyToken(token)
    // Such a token lives ten minutes and comes from a fresh sign-in.
    return { userId, signedInAtMs: Date.now() }
  } catch {
    throw unauthenticated('The token is not valid here; sign in for your authorizers.')
  }
}

function unauthenticated(message: string): RequestRefusedError {
  return new RequestRefusedError(401, 'SIGN_IN_REQUIRED', message)
}
