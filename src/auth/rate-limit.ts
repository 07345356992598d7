import { LRUCache } from 'lru-cache'

/**
 * Token buckets: a bucket holds `burst` tokens and gains `refillPerSecond`; a request takes one,
 * and one more for each 4 KiB of its body. Header syntax: draft-ietf-httpapi-ratelimit-headers
 * (quota `q` per window `w` seconds, remaining `r`, reset `t` seconds). A bucket's window is the
 * time that it takes to fill.
 */

/**
 * The bound of remembered partitions. The least recently used is full again long before, so it can
 * be forgotten.
 */
const PARTITIONS_MAX = 100_000

export interface RateLimitPolicy {
  /** The policy's name in the headers: letters, digits and dashes. */
  readonly name: string
  readonly refillPerSecond: number
  /** The tokens of a full bucket, at least 1. */
  readonly burst: number
}

/** An agent that was silent may use this much of its rate at once. */
const KEY_BURST_SECONDS = 5

export function keyPolicy(requestsPerSecond: number): RateLimitPolicy {
  const burst = requestsPerSecond * KEY_BURST_SECONDS
  return { name: 'key', refillPerSecond: requestsPerSecond, burst }
}

/**
 * CONTRACT.md, "Rate limits": 200 requests per second for each key that a user made, burst 1,000.
 */
export const KEY_POLICY = keyPolicy(200)

/**
 * Spec silent: the rate of failed authentications per remote address. Each costs a hash and a
 * lookup; the bucket keeps a flood of them from crowding out other work. Valid keys from the same
 * address still pass, because many agents may share a gateway.
 */
export const FAILED_AUTHENTICATION_POLICY: RateLimitPolicy = {
  name: 'failed-authentication',
  refillPerSecond: 20,
  burst: 200,
}

/**
 * Spec silent: a body costs by its length. 128 KiB of calldata takes as much to read and screen as
 * many plain sends, and counts as 64 tokens in hex, so that a key gets three such calls a second;
 * no plain call reaches 4 KiB.
 */
const BODY_BYTES_PER_TOKEN = 4 * 1024

/**
 * Spec silent: a list costs by the records that it scans. One page is included in the request; a
 * filter that finds nothing scans 5,000 records, some 30 ms of the thread, and counts as ten. A
 * person who keeps sending such requests leaves half of the thread to others, and the console,
 * which sends some after each event, has enough.
 */
const ROWS_PER_TOKEN = 500

/** Returns the tokens that scanned rows cost beyond the request's own. */
export function tokensOfScannedRows(rows: number): number {
  return Math.max(0, Math.floor((rows - 1) / ROWS_PER_TOKEN))
}

/** Returns the tokens that a body of this length costs beyond the request's own. */
export function tokensOfBody(bytes: number): number {
  return Math.floor(bytes / BODY_BYTES_PER_TOKEN)
}

interface TokenBucket {
  /** Fractional; at most burst, and negative when tokens are owed. */
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
 * Refills `bucket` up to `nowMs` and takes `tokens` if there are enough, otherwise none. A clock
 * that steps back refills nothing.
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
  // A request for more than a full bucket would never pass.
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
  /**
   * Takes the cost of work that was already done; the bucket may go as far below zero as it can
   * hold.
   */
  charge(partition: string, tokens: number): void
  /** Returns the decision of `take` without taking anything. */
  peek(partition: string): RateLimitDecision
}

interface RateLimiterOptions {
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
  /** The order of use is kept per second: moving an entry costs more than taking a token. */
  const secondOf = (ms: number) => Math.floor(ms / 1_000)
  return {
    policy,
    charge(partition, tokens) {
      const bucket = buckets.peek(partition)
      if (bucket === undefined || tokens <= 0) return
      bucket.tokens = Math.max(-policy.burst, bucket.tokens - tokens)
    },
    peek(partition) {
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

/**
 * Returns the value of `RateLimit-Policy`: `"key";q=1000;w=5`. It is made once, because policies do
 * not change.
 */
export function rateLimitPolicyHeader(policy: RateLimitPolicy): string {
  let header = policyHeaders.get(policy)
  if (header === undefined) {
    const windowSeconds = Math.max(1, Math.ceil(policy.burst / policy.refillPerSecond))
    header = `"${policy.name}";q=${policy.burst};w=${windowSeconds}`
    policyHeaders.set(policy, header)
  }
  return header
}

/** Returns the value of `RateLimit`: `"key";r=998;t=1`. */
export function rateLimitHeader(decision: RateLimitDecision): string {
  return `"${decision.policy.name}";r=${decision.remaining};t=${decision.resetSeconds}`
}
