import { createHash } from 'node:crypto'
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { LRUCache } from 'lru-cache'
import type { UserId } from '../domain/ids.js'
import { ACCOUNT_CLAIM, ROLE_CLAIM, ROLES, type Role } from '../domain/role.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'

/** The holder of a verified console token. */
export interface ConsoleUser {
  /** The account that the token is for. */
  readonly userId: UserId
  /** The person who is signed in; the same as `userId` in their own account. */
  readonly personId: UserId
  /** The person's role in the account, according to the issuer. */
  readonly role: Role
  /** Null when the issuer does not say. */
  readonly email: string | null
  /** When the token expires, in milliseconds since the epoch, without leeway. */
  readonly expiresAtMs: number
}

export interface ConsoleTokenVerifier {
  /** True for a recently verified token, which costs only a lookup to verify again. */
  remembers(authorizationHeader: string): boolean
  /**
   * Checks signature, `iss`, `aud`, `exp`, `nbf` and `sub` of the bearer token in an
   * `Authorization` header. Refuses with INVALID_TOKEN, or with COSIGNER_UNAVAILABLE when the
   * issuer's keys cannot be fetched, so that a valid token is not rejected as invalid.
   */
  verify(authorizationHeader: string | undefined): Promise<Result<ConsoleUser>>
}

interface ConsoleTokenOptions {
  /** The exact issuer expected in `iss`. */
  readonly issuer: string
  /** The audience expected in `aud`. */
  readonly audience: string
  /** The URL of the issuer's keys, which may differ from the issuer's address behind a proxy. */
  readonly jwksUrl: string
}

/**
 * CONTRACT.md, "Console tokens": only asymmetric algorithms, so that a public key is never accepted
 * as an HMAC secret.
 */
const ALGORITHMS = ['ES256', 'RS256', 'EdDSA']
const LEEWAY_SECONDS = 30
/** A token of this service has about 700 characters; some issuers add many claims. */
const TOKEN_CHARS_MAX = 8_192
const SUBJECT_CHARS_MAX = 255
const JWKS_TIMEOUT_MS = 3_000
/** The pause between fetches for unknown key ids: forged `kid`s must not cause a fetch each. */
const JWKS_COOLDOWN_MS = 10_000
const JWKS_MAX_AGE_MS = 10 * 60_000
/** The bound of remembered tokens; a console session has one. */
const CACHE_TOKENS_MAX = 10_000
/**
 * How long a verified token is remembered, so that a signing key that the issuer withdraws soon
 * stops counting.
 */
const CACHE_LIFE_MS = 5 * 60_000

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i

export function createConsoleTokenVerifier(options: ConsoleTokenOptions): ConsoleTokenVerifier {
  const keys = createRemoteJWKSet(new URL(options.jwksUrl), {
    timeoutDuration: JWKS_TIMEOUT_MS,
    cooldownDuration: JWKS_COOLDOWN_MS,
    cacheMaxAge: JWKS_MAX_AGE_MS,
    [customFetch]: fetchTwice,
  })
  // Keyed by digest: a heap dump of the cache contains no usable token.
  const verified = new LRUCache<string, ConsoleUser>({ max: CACHE_TOKENS_MAX })
  const inFlight = new Map<string, Promise<Result<ConsoleUser>>>()

  async function verifyToken(token: string, digest: string): Promise<Result<ConsoleUser>> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: options.issuer,
        audience: options.audience,
        algorithms: ALGORITHMS,
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ['sub', 'exp'],
      })
      const user = userOf(payload)
      if (user === null) {
        return refuse(invalid('The console token names no user (sub), or no account and role.'))
      }
      const lifeMs = user.expiresAtMs + LEEWAY_SECONDS * 1_000 - Date.now()
      verified.set(digest, user, { ttl: Math.max(1, Math.min(lifeMs, CACHE_LIFE_MS)) })
      return ok(user)
    } catch (error) {
      return refuse(explain(error))
    }
  }

  return {
    remembers(authorizationHeader) {
      const token = tokenOf(authorizationHeader)
      return token !== undefined && verified.has(digestOf(token))
    },
    async verify(authorizationHeader) {
      if (authorizationHeader === undefined) {
        return refuse(invalid('Send the console token as Authorization: Bearer <JWT>.'))
      }
      const token = tokenOf(authorizationHeader)
      if (token === undefined) {
        return refuse(invalid('The Authorization header is not "Bearer " and a signed JWT.'))
      }
      const digest = digestOf(token)
      const remembered = verified.get(digest)
      if (remembered !== undefined) return ok(remembered)
      // Concurrent requests with one token share one verification; the server bounds requests in
      // flight.
      const pending =
        inFlight.get(digest) ??
        verifyToken(token, digest).finally(() => {
          inFlight.delete(digest)
        })
      inFlight.set(digest, pending)
      return pending
    },
  }
}

function tokenOf(authorizationHeader: string): string | undefined {
  if (authorizationHeader.length > TOKEN_CHARS_MAX) return undefined
  return BEARER.exec(authorizationHeader)?.[1]
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/**
 * Tries twice, because a restarted identity provider leaves a dead kept-alive connection behind;
 * the second attempt opens a new one. Both share one timeout.
 */
async function fetchTwice(...[url, init]: Parameters<FetchImplementation>): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal.aborted) throw error
    return fetch(url, init)
  }
}

function userOf(payload: JWTPayload): ConsoleUser | null {
  const { sub, exp } = payload
  if (!isSubject(sub)) return null
  const place = placeOf(payload, sub)
  if (place === null) return null
  const email = typeof payload.email === 'string' ? payload.email : null
  const { accountId, role } = place
  const ids = { userId: accountId as UserId, personId: sub as UserId }
  return { ...ids, role, email, expiresAtMs: (exp ?? 0) * 1_000 }
}

/** Null when one of the claims is invalid, or comes without the other. */
function placeOf(payload: JWTPayload, sub: string): { accountId: string; role: Role } | null {
  if (!(ACCOUNT_CLAIM in payload || ROLE_CLAIM in payload)) return { accountId: sub, role: 'owner' }
  const accountId = payload[ACCOUNT_CLAIM]
  const role = ROLES.find((one) => one === payload[ROLE_CLAIM])
  return isSubject(accountId) && role !== undefined ? { accountId, role } : null
}

function isSubject(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= SUBJECT_CHARS_MAX
}

function explain(error: unknown): Fault {
  if (error instanceof errors.JWTExpired) {
    return invalid('The console token has expired; sign in again.')
  }
  if (error instanceof errors.JWTClaimValidationFailed) return invalid(claimSentence(error.claim))
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    return invalid('The console token must be signed with ES256, RS256 or EdDSA.')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return invalid('The signature of the console token does not verify.')
  }
  if (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  ) {
    return invalid('The console token is signed with a key that its issuer does not publish.')
  }
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) {
    return invalid('The console token is not a well-formed signed JWT.')
  }
  return fault(
    'COSIGNER_UNAVAILABLE',
    {},
    'The identity provider is unreachable, so the console token cannot be checked; try again.',
    `console token keys: ${error instanceof Error ? error.message : String(error)}`,
  )
}

function claimSentence(claim: string): string {
  switch (claim) {
    case 'iss':
      return 'The console token was issued by another identity provider (iss).'
    case 'aud':
      return 'The console token is meant for another service (aud).'
    case 'nbf':
      return 'The console token is not valid yet (nbf).'
    case 'sub':
      return 'The console token names no user (sub).'
    case 'exp':
      return 'The console token has no expiry (exp).'
    default:
      return 'A claim of the console token is not acceptable.'
  }
}

function invalid(message: string): Fault {
  return fault('INVALID_TOKEN', {}, message)
}
