import { LRUCache } from 'lru-cache'

/**
 * Token buckets: a bucket holds `burst` tokens and gains `refillPerSecond`; a request takes one,
 * and one more for each 4 KiB of its body.
 * Header syntax: draft-ietf-httpapi-ratelimit-headers (quota `q` per window `w` seconds,
 * remaining `r`, reset `t` seconds). A bucket's honest window is the time it takes to fill.
 */

/** Partitions remembered at once. The least recently used is full again by far, and so forgettable. */
const PARTITIONS_MAX = 100_000

export interface RateLimitPolicy {
  /** Names the policy in the headers; letters, digits and dashes. */
  readonly name: string
  readonly refillPerSecond: number
  /** Tokens of a full bucket, at least 1. */
  readonly burst: number
}

/** CONTRACT.md, "Rate limits": 200 requests per second and key that a user made, burst 1,000. */
export const KEY_POLICY: RateLimitPolicy = { name: 'key', refillPerSecond: 200, burst: 1_000 }

/**
 * Spec silent: failed authentications per remote address. They cost a hash and a lookup each; the
 * bucket only keeps a flood of them from crowding out work. Right keys from the same address pass
 * still, since an address may be a gateway that many agents share.
 */
export const FAILED_AUTHENTICATION_POLICY: RateLimitPolicy = {
  name: 'failed-authentication',
  refillPerSecond: 20,
  burst: 200,
}

/**
 * Spec silent: what a body costs is its length, so that 128 KiB of calldata, which takes as much to
 * read and to screen as many plain sends, also counts as many: as hex it is 64, so that a key gets
 * three such a second, while no plain call comes near 4 KiB.
 */
const BODY_BYTES_PER_TOKEN = 4 * 1024

/**
 * Spec silent: what a list costs is the records that it looks at. A page of them is a request's own; a
 * filter that finds none has 5,000 read, some 30 ms in which nobody else is served, and counts as ten:
 * a person who asks for such all the time leaves half of the thread to others, and the console, which
 * asks for some whenever something happens, has enough.
 */
const LOOKS_PER_TOKEN = 500

/** Tokens beyond the request's own that so many looks take. */
export function tokensOfLooks(looks: number): number {
  return Math.max(0, Math.floor((looks - 1) / LOOKS_PER_TOKEN))
}

/** Tokens beyond the request's own that a body of this length takes. */
export function tokensOfBody(bytes: number): number {
  return Math.floor(bytes / BODY_BYTES_PER_TOKEN)
}

export interface TokenBucket {
  /** Fractional; burst at most, and below zero what is owed. */
  tokens: number
  updatedAtMs: number
}

export interface RateLimitDecision {
  readonly allowed: boolean
  readonly policy: RateLimitPolicy
  /** Whole requests left. */
  readonly remaining: number
  /** Seconds until the bucket is full, rounded up. */
  readonly resetSeconds: number
  /** Seconds until the same request passes, rounded up; 0 when allowed. */
  readonly retryAfterSeconds: number
}

/**
 * Refills `bucket` up to `nowMs` and takes `tokens` if there are as many, else none. A clock that
 * steps back refills nothing.
 */
export function takeTokens(
  bucket: TokenBucket,
  policy: RateLimitPolicy,
  nowMs: number,
  tokens: number,
): RateLimitDecision {
  const elapsedMs = Math.max(0, nowMs - bucket.updatedAtMs)
  bucket.tokens = Math.min(
    policy.burst,
    bucket.tokens + (elapsedMs * policy.refillPerSecond) / 1_000,
  )
  bucket.updatedAtMs = Math.max(bucket.updatedAtMs, nowMs)
  // More than a full bucket would never pass.
  const due = Math.min(tokens, policy.burst)
  const allowed = bucket.tokens >= due
  if (allowed) bucket.tokens -= due
  return {
    allowed,
    policy,
    remaining: Math.max(0, Math.floor(bucket.tokens)),
    resetSeconds: Math.ceil((policy.burst - bucket.tokens) / policy.refillPerSecond),
    retryAfterSeconds: allowed
      ? 0
      : Math.max(1, Math.ceil((due - bucket.tokens) / policy.refillPerSecond)),
  }
}

export interface RateLimiter {
  readonly policy: RateLimitPolicy
  /** Takes one token, or `tokens`, from the bucket of `partition` (a lineage, an address). */
  take(partition: string, tokens?: number): RateLimitDecision
  /** Takes what is known to be due only once it was had; a bucket may come to owe as much as it holds. */
  charge(partition: string, tokens: number): void
  /** As `take` would decide, with nothing taken. */
  look(partition: string): RateLimitDecision
}

export interface RateLimiterOptions {
  readonly policy: RateLimitPolicy
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number
  readonly partitionsMax?: number
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { policy, nowMs } = options
  const buckets = new LRUCache<string, TokenBucket>({
    max: options.partitionsMax ?? PARTITIONS_MAX,
  })
  /** The order of use is kept to the second: renewing a place costs more than taking a token. */
  const secondOf = (ms: number) => Math.floor(ms / 1_000)
  return {
    policy,
    charge(partition, tokens) {
      const bucket = buckets.peek(partition)
      if (bucket === undefined || tokens <= 0) return
      bucket.tokens = Math.max(-policy.burst, bucket.tokens - tokens)
    },
    look(partition) {
      const now = nowMs()
      const { tokens, updatedAtMs } = buckets.peek(partition) ?? {
        tokens: policy.burst,
        updatedAtMs: now,
      }
      return takeTokens({ tokens, updatedAtMs }, policy, now, 1)
    },
    take(partition, tokens = 1) {
      const now = nowMs()
      let bucket = buckets.peek(partition)
      if (bucket !== undefined) {
        if (secondOf(now) !== secondOf(bucket.updatedAtMs)) buckets.get(partition)
      } else {
        bucket = { tokens: policy.burst, updatedAtMs: now }
        buckets.set(partition, bucket)
      }
      return takeTokens(bucket, policy, now, tokens)
    },
  }
}

const policyHeaders = new WeakMap<RateLimitPolicy, string>()

/** Value of `RateLimit-Policy`: `"key";q=1000;w=5`. Made once, since policies do not change. */
export function rateLimitPolicyHeader(policy: RateLimitPolicy): string {
  let header = policyHeaders.get(policy)
  if (header === undefined) {
    const windowSeconds = Math.max(1, Math.ceil(policy.burst / policy.refillPerSecond))
    header = `"${policy.name}";q=${policy.burst};w=${windowSeconds}`
    policyHeaders.set(policy, header)
  }
  return header
}

/** Value of `RateLimit`: `"key";r=998;t=1`. */
export function rateLimitHeader(decision: RateLimitDecision): string {
  return `"${decision.policy.name}";r=${decision.remaining};t=${decision.resetSeconds}`
}
