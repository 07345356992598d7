import { LRUCache } from 'lru-cache'
import { ACCOUNT_CLAIM } from '../domain/role.js'
import { createRateLimiter, type RateLimitDecision, type RateLimitPolicy } from './rate-limit.js'

/**
 * Which console tokens are verified that are not remembered, since to verify one costs a signature
 * check. Only those that fail are counted, in three buckets:
 *
 * | bucket of                                          | so that a flood of forged tokens                  |
 * | -------------------------------------------------- | ------------------------------------------------- |
 * | the address                                        | costs a few per cent of a core, whatever it says  |
 * | the address and the subject that the token names   | that names one subject leaves room for the others |
 * | the same, of a user who was there lately           | that invents subjects leaves them theirs          |
 *
 * What a token says of its subject is the attacker's choice. So it lends nothing beyond the
 * address's bucket until a token of that subject has verified, from that address.
 */
export interface UnverifiedTokens {
  /** Whether it may be verified; nothing is taken. */
  look(caller: TokenCaller): RateLimitDecision
  /** Counts one that did not verify; not allowed where there was nothing left to take. */
  failed(caller: TokenCaller): RateLimitDecision
  /** From then on its user is known at that address. */
  verified(caller: TokenCaller): void
}

export interface TokenCaller {
  readonly address: string
  /** Nobody has verified it; empty where the token names none. */
  readonly claimedSubject: string
}

/**
 * Spec silent: console tokens per remote address that did not verify. To verify one costs about
 * 0.1 ms, so this bounds a flood of forged ones to a few per cent of a core. Apart from keys that
 * fail, since agents and people may share the address of a gateway; tokens that verified within the
 * last minutes pass still.
 */
export const FORGED_TOKEN_POLICY: RateLimitPolicy = {
  name: 'failed-console-token',
  refillPerSecond: 200,
  burst: 1_000,
}

/**
 * Spec silent: the same per subject at an address. A person's browser brings a token that fails
 * once in a while, as after its end; and fifty users of one office come to the address's own rate.
 */
export const FORGED_SUBJECT_POLICY: RateLimitPolicy = {
  name: 'failed-console-token-of-user',
  refillPerSecond: 4,
  burst: 40,
}

/** Buckets of subjects, 500 bytes each at most. One that gives way is full again: see the address's. */
const SUBJECTS_MAX = 20_000
/** Users known at an address: only a verified token makes one. */
const KNOWN_MAX = 20_000
/** Longer than a working day, and some shifts. */
const KNOWN_MS = 7 * 24 * 60 * 60 * 1_000
const SUBJECT_CHARS_MAX = 255

export interface UnverifiedTokensOptions {
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
  /** When each was there last. */
  const known = new LRUCache<string, number>({ max: KNOWN_MAX })

  function isKnown(pair: string): boolean {
    const atMs = known.peek(pair)
    return atMs !== undefined && nowMs() - atMs < KNOWN_MS
  }

  return {
    look(caller) {
      const pair = pairOf(caller)
      const shared = addresses.look(caller.address)
      if (isKnown(pair)) {
        const own = users.look(pair)
        return own.allowed ? own : shared
      }
      return shared.allowed ? invented.look(pair) : shared
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
 * @param authorizationHeader whose length the server has bounded
 * @returns whom the bearer token names, unverified; empty where it cannot be read
 */
export function claimedSubjectOf(authorizationHeader: string): string {
  return subjectIn(claimsOf(authorizationHeader), 'sub')
}

/** The account that it names, which is the person's own where it names none; as `claimedSubjectOf`. */
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
