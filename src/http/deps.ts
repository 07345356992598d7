import type { AuthenticatedKey } from '../auth/api-key.js'
import { type RateLimitDecision, type RateLimiter, tokensOfBody } from '../auth/rate-limit.js'
import type { TokenCaller, UnverifiedTokens } from '../auth/unverified-tokens.js'
import type { UserId } from '../domain/ids.js'
import type { Role } from '../domain/role.js'
import { CATALOGUE } from '../errors/catalogue.js'
import { type Fault, fault, type Result } from '../errors/fault.js'
import type { DrilledHandlers } from '../operations/drilled-handler.js'
import type { WriteCaller } from '../operations/write-admission.js'
import type { HttpRequest, HttpResponse } from './app.js'
import type { PayForBody } from './body.js'
import type { EventStreams } from './event-stream.js'
import type { AnswerForm, Exchange, ExchangeContext } from './exchange.js'

/** The ports that routes use. */
export interface RouteDeps extends ExchangeContext {
  /** @param header value of `X-Api-Key`, empty if absent */
  readonly authenticate: (header: string) => Result<AuthenticatedKey>
  /**
   * @param header value of `Authorization`, empty if absent
   * @returns refusals `INVALID_TOKEN` and `COSIGNER_UNAVAILABLE` (the issuer's keys cannot be
   * fetched)
   */
  readonly verifyConsole: (header: string) => Promise<Result<ConsoleIdentity>>
  /** Whether the holder of a console token is still a member of its account. */
  readonly isMember: (identity: Pick<ConsoleIdentity, 'userId' | 'personId'>) => boolean
  /** True for a console token that was verified a moment ago. */
  readonly remembersConsole: (header: string) => boolean
  /** For each lineage of keys that a user created, and for each person on console routes. */
  readonly rateLimit: RateLimiter
  /** For each remote address. */
  readonly failedAuthentications: RateLimiter
  readonly unverifiedTokens: UnverifiedTokens
  /** Rows that lists have scanned since the start. */
  readonly rowsScanned: () => number
  /** Places for followers of the event log, over all apps. */
  readonly streams: EventStreams
  /** The last place of a user's event log that may be shown. */
  readonly readableSeq: (userId: UserId) => number
  /** True if a call with this key that moves value would be `OVERLOADED`, whatever its body. */
  readonly refusesWrite: (caller: WriteCaller) => boolean
  /** Serves writes that request an injected fault; absent in a live environment. */
  readonly drilled?: DrilledHandlers
}

export interface ConsoleIdentity {
  /** The account that the token is for. */
  readonly userId: UserId
  /** The person who signed in. The rate is theirs, so that no member uses another's. */
  readonly personId: UserId
  readonly role: Role
  readonly email: string | null
  /** Expiry of the token, in milliseconds since the epoch. */
  readonly expiresAtMs: number
}

export type RouteHandler = (response: HttpResponse, request: HttpRequest, form: AnswerForm) => void

/** Takes one request from the caller's bucket; returns false if it has answered `429`. */
export function admit(exchange: Exchange, limiter: RateLimiter, partition: string): boolean {
  return admitTokens(exchange, limiter, partition, 1)
}

/**
 * Takes the cost of a request and of the body that it declares; returns false if it has answered
 * `429`. A refused body is not read: the parser drops it, and the connection stays usable. Both are
 * taken at once, so a full bucket always admits one request.
 * @param declaredBytes null if the length is unknown; the body is then charged as it arrives
 */
export function admitWithBody(
  exchange: Exchange,
  limiter: RateLimiter,
  partition: string,
  declaredBytes: number | null,
): boolean {
  return admitTokens(exchange, limiter, partition, 1 + tokensOfBody(declaredBytes ?? 0))
}

/**
 * Charges for a body as it arrives, as `PayForBody` describes. Undefined if the body has paid by
 * its length.
 */
export function payAsItComes(
  exchange: Exchange,
  limiter: RateLimiter,
  partition: string,
  declaredBytes: number | null,
): PayForBody | undefined {
  if (declaredBytes !== null) return undefined
  let paid = 0
  return (bytes) => {
    const tokens = tokensOfBody(bytes) - paid
    if (tokens <= 0) return null
    const decision = limiter.take(partition, tokens)
    exchange.meteredBy(decision)
    if (!decision.allowed) return rateLimited(decision)
    paid += tokens
    return null
  }
}

/**
 * Takes the cost of a request that declares to be many calls in one, beyond its own token; returns
 * false if it has answered `429`. A full bucket admits it, however many calls it has.
 */
export function admitFurtherCalls(
  exchange: Exchange,
  limiter: RateLimiter,
  partition: string,
  calls: number,
): boolean {
  const tokens = Math.min(calls, limiter.policy.burst) - 1
  return tokens <= 0 || admitTokens(exchange, limiter, partition, tokens)
}

function admitTokens(
  exchange: Exchange,
  limiter: RateLimiter,
  partition: string,
  tokens: number,
): boolean {
  return admitsBy(exchange, limiter.take(partition, tokens))
}

function admitsBy(exchange: Exchange, decision: RateLimitDecision): boolean {
  exchange.meteredBy(decision)
  if (decision.allowed) return true
  exchange.refuse(rateLimited(decision))
  return false
}

function rateLimited({ retryAfterSeconds }: RateLimitDecision): Fault {
  return fault('RATE_LIMITED', { retry_after_seconds: retryAfterSeconds })
}

/**
 * Limits tokens that are not remembered before they are verified, because a forged one costs a
 * signature check. Returns false if it has answered `429` because too many failed lately.
 */
export function admitUnverified(
  exchange: Exchange,
  tokens: UnverifiedTokens,
  caller: TokenCaller,
): boolean {
  const decision = tokens.peek(caller)
  if (decision.allowed) return true
  exchange.meteredBy(decision)
  const details = { retry_after_seconds: decision.retryAfterSeconds }
  exchange.refuse(fault('RATE_LIMITED', details, TOKENS_FAILED))
  return false
}

const TOKENS_FAILED =
  'Too many console tokens from this address were invalid. Wait for the time in Retry-After.'

/**
 * Answers a failed authentication with its refusal, or with `429` once the bucket is empty. A
 * failure that the identity provider caused does not count against the caller.
 * @param count takes the failure from the bucket
 */
export function refuseUnauthenticated(
  exchange: Exchange,
  count: () => RateLimitDecision,
  refusal: Fault,
): void {
  const isCallersFault = CATALOGUE[refusal.code].status === 401
  if (isCallersFault && !admitsBy(exchange, count())) return
  exchange.refuse(refusal, refusal.code === 'INVALID_TOKEN' ? [['WWW-Authenticate', 'Bearer']] : [])
}
