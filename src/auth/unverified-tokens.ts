import { LRUCache } from 'lru-cache'
import { ACCOUNT_CLAIM } from '../domain/role.js'
import { createRateLimiter, type RateLimitDecision, type RateLimitPolicy } from './rate-limit.js'

/**
 * Decides which console tokens that are not remembered may be verified, because each costs a
 * signature check. Only failures are counted, in three buckets:
 *
 * | bucket of                                          | a flood of forged tokens                          |
 * | -------------------------------------------------- | ------------------------------------------------- |
 * | the address                                        | costs a few per cent of a core                    |
 * | the address and the subject that the token names   | for one subject leaves room for the others        |
 * | the same, for a user who was recently there        | with invented subjects leaves known users theirs  |
 *
 * The attacker chooses the subject of a forged token. A subject therefore gets its own bucket only
 * after one of its tokens has verified from that address.
 */
export interface UnverifiedTokens {
  /** Tells whether the token may be verified; it takes nothing. */
  peek(caller: TokenCaller): RateLimitDecision
  /** Counts a token that failed; not allowed when the bucket was empty. */
  failed(caller: TokenCaller): RateLimitDecision
  /** Marks the token's user as known at that address. */
  verified(caller: TokenCaller): void
}

export interface TokenCaller {
  readonly address: string
  /** Unverified; empty when the token names no subject. */
  readonly claimedSubject: string
}

/**
 * Spec silent: the rate of console tokens per remote address that fail to verify. Each verification
 * takes about 0.1 ms, so this bounds a flood of forged tokens to a few per cent of a core. It is
 * separate from failed keys, because agents and people may share a gateway's address; tokens
 * verified within the last minutes still pass.
 */
const FORGED_TOKEN_POLICY: RateLimitPolicy = {
  name: 'failed-console-token',
  refillPerSecond: 200,
  burst: 1_000,
}

/**
 * Spec silent: the same per subject at an address. A person's browser sends an expired token now
 * and then; fifty users of one office reach the address's own rate.
 */
const FORGED_SUBJECT_POLICY: RateLimitPolicy = {
  name: 'failed-console-token-of-user',
  refillPerSecond: 4,
  burst: 40,
}

/**
 * The bound of subjects' buckets, at most 500 bytes each. A bucket that gives way is full again,
 * and the address's bucket still counts.
 */
const SUBJECTS_MAX = 20_000
/** The bound of users known at an address; only a verified token adds one. */
const KNOWN_MAX = 20_000
/** Longer than a working day or a few shifts. */
const KNOWN_MS = 7 * 24 * 60 * 60 * 1_000
const SUBJECT_CHARS_MAX = 255

interface UnverifiedTokensOptions {
  readonly policy?: RateLimitPolicy
  readonly subjectPolicy?: RateLimitPolicy
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number
}

export function createUnverifiedTokens(options: UnverifiedTokensOptions): UnverifiedTokens {
  const { policy = FORGED_TOKEN_POLICY, subjectPolicy = FORGED_SUBJECT_POLICY, nowMs } = options
  const addresses = createRateLimiter({ policy, nowMs })
  const invented = createRateLimiter({ policy: subjectPolicy, nowMs, partitionsMax: SUBJECTS_MAX })
  const users = createRateLimiter({ policy: subjectPolicy, nowMs, partitionsMax: KNOWN_MAX })
  /** The time at which each was last there. */
  const known = new LRUCache<string, number>({ max: KNOWN_MAX })

  function isKnown(pair: string): boolean {
    const atMs = known.peek(pair)
    return atMs !== undefined && nowMs() - atMs < KNOWN_MS
  }

  return {
    peek(caller) {
      const pair = pairOf(caller)
      const shared = addresses.peek(caller.address)
      if (isKnown(pair)) {
        const own = users.peek(pair)
        return own.allowed ? own : shared
      }
      return shared.allowed ? invented.peek(pair) : shared
    },
    failed(caller) {
      const pair = pairOf(caller)
      if (isKnown(pair)) {
        const own = users.take(pair)
        return own.allowed ? own : addresses.take(caller.address)
      }
      const shared = addresses.take(caller.address)
      const own = invented.take(pair)
      return shared.allowed ? own : shared
    },
    verified(caller) {
      known.set(pairOf(caller), nowMs())
    },
  }
}

function pairOf({ address, claimedSubject }: TokenCaller): string {
  return `${address} ${claimedSubject}`
}

/**
 * @param authorizationHeader a header of bounded length
 * @returns the bearer token's subject, unverified; empty when it cannot be read
 */
export function claimedSubjectOf(authorizationHeader: string): string {
  return subjectIn(claimsOf(authorizationHeader), 'sub')
}

/** Returns the account that the token names, or the person's own; like `claimedSubjectOf`. */
export function claimedAccountOf(authorizationHeader: string): string {
  const claims = claimsOf(authorizationHeader)
  return subjectIn(claims, ACCOUNT_CLAIM in claims ? ACCOUNT_CLAIM : 'sub')
}

type Claims = Readonly<Record<string, unknown>>

const NO_CLAIMS: Claims = {}

function claimsOf(authorizationHeader: string): Claims {
  const payload = authorizationHeader.split('.', 2)[1]
  if (payload === undefined) return NO_CLAIMS
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : NO_CLAIMS
  } catch {
    return NO_CLAIMS
  }
}

function subjectIn(claims: Claims, name: string): string {
  const subject = claims[name]
  return typeof subject === 'string' && subject.length <= SUBJECT_CHARS_MAX ? subject : ''
}
