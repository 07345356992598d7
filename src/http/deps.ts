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

/** The ports that routes stand on. */
export interface RouteDeps extends ExchangeContext {
  /** @param header the value of `X-Api-Key`, empty when absent */
  readonly authenticate: (header: string) => Result<AuthenticatedKey>
  /**
   * @param header the value of `Authorization`, empty when absent
   * @returns refusals: `INVALID_TOKEN`, `COSIGNER_UNAVAILABLE` (the issuer's keys are out of reach)
   */
  readonly verifyConsole: (header: string) => Promise<Result<ConsoleIdentity>>
  /** Whether who holds a console token is a member of its account by now. */
  readonly isMember: (identity: Pick<ConsoleIdentity, 'userId' | 'personId'>) => boolean
  /** True for a console token that was verified a moment ago. */
  readonly remembersConsole: (header: string) => boolean
  /** Per line of keys that a user made, and per person on console routes. */
  readonly rateLimit: RateLimiter
  /** Per remote address. */
  readonly failedAuthentications: RateLimiter
  readonly unverifiedTokens: UnverifiedTokens
  /** Records that lists have looked at since the start. */
  readonly looksSoFar: () => number
  /** Places for those who follow the event log, whichever app they come by. */
  readonly streams: EventStreams
  /** The last place of a user's event log that may be shown. */
  readonly readableSeq: (userId: UserId) => number
  /** True when a call with this key that moves value would be `OVERLOADED`, whatever its body. */
  readonly refusesWrite: (caller: WriteCaller) => boolean
  /** What serves writes that ask for a fault; absent where the environment is live. */
  readonly drilled?: DrilledHandlers
}

export interface ConsoleIdentity {
  /** The account that the token is for. */
  readonly userId: UserId
  /** Whose sign-in it is; the rate is theirs, so that no member takes another's. */
  readonly personId: UserId
  readonly role: Role
  readonly email: string | null
  /** Of the token, milliseconds since the epoch. */
  readonly expiresAtMs: number
}

export type RouteHandler = (response: HttpResponse, request: HttpRequest, form: AnswerForm) => void

/** Takes one request from the caller's bucket; false when it has answered `429` instead. */
export function admit(exchange: Exchange, limiter: RateLimiter, partition: string): boolean {
  return admitTokens(exchange, limiter, partition, 1)
}

/**
 * Takes what a request costs together with the body it declares; false when it has answered `429`
 * instead. Nothing of a refused body is looked at: the parser drops it, and the connection stays
 * usable. Both are taken at once, so that a bucket that is full always lets one request through.
 * @param declaredBytes null when the length is not said; it is taken as it comes
 */
export function admitWithBody(
  exchange: Exchange,
  limiter: RateLimiter,
  partition: string,
  declaredBytes: number | null,
): boolean {
  return admitTokens(exchange, limiter, partition, 1 + tokensOfBody(declaredBytes ?? 0))
}

/** Takes what a body costs, as `PayForBody` says. Undefined for one that has paid by its length. */
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
 * Takes what a request costs beyond its own token, of which it says that it is many calls in one;
 * false when it has answered `429`. A bucket that was full lets it through, however many they are.
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
 * Before a token is verified that is not remembered: to verify a forged one costs a signature check.
 * False when it has answered `429`, since too many like it have failed lately.
 */
export function admitUnverified(
  exchange: Exchange,
  tokens: UnverifiedTokens,
  caller: TokenCaller,
): boolean {
  const decision = tokens.look(caller)
  if (decision.allowed) return true
  exchange.meteredBy(decision)
  const details = { retry_after_seconds: decision.retryAfterSeconds }
  exchange.refuse(fault('RATE_LIMITED', details, TOKENS_FAILED))
  return false
}

const TOKENS_FAILED =
  'Too many console tokens from this address did not verify; wait as long as Retry-After says.'

/**
 * Answers a failed authentication: with its refusal, or `429` once the bucket is empty. What failed
 * for want of the identity provider is not held against the caller.
 * @param count takes it from the bucket
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
