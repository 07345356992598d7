import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type ApiKey, type Environment, keyStatus } from '../domain/api-key.js'
import type { KeyId, LineageId } from '../domain/ids.js'
import { SUB_KEY_DEPTH_MAX } from '../domain/sub-key.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'

/**
 * Resolves the `X-Api-Key` header to its key record. Owns a bounded cache of records and proof
 * keys; the record's truth is the store's, and the wallet's actor checks the status again before
 * it spends.
 *
 * Nothing here compares secrets byte by byte: the presented secret is hashed first and only the
 * hash is looked up. What the time of a map or B-tree lookup could tell is about SHA-256 of a
 * guess, which brings nobody nearer to 192 random bits; the index is exact, so no second compare
 * follows.
 */

const SECRET = /^sk_(?:live|test)_[A-Za-z0-9_-]{32}$/
const SECRET_CHARS = 'sk_test_'.length + 32
const ENVIRONMENT_AT = 'sk_'.length

/** Whether it has the form of one: what has not is nobody's, and needs no look. */
export function isSecret(header: string): boolean {
  return header.length === SECRET_CHARS && SECRET.test(header)
}

/** Keys cached at once; a record and its proof key take about 1 kB. */
const CACHED_KEYS_MAX = 50_000
/** Unknown hashes cached at once, so that a flood of wrong keys reads the store once each. */
const CACHED_UNKNOWN_MAX = 10_000
/** Bounds how long a change made past `invalidate` (a restore, say) goes unseen by reads. */
const RECORD_AGE_MS_MAX = 5_000
/** Short, so that a key works soon after it is issued even where `invalidate` did not reach. */
const UNKNOWN_AGE_MS_MAX = 1_000
const MINUTE_MS = 60_000

/** The store's part. */
export interface ApiKeyReader {
  /** @param hashHex SHA-256 of the secret */
  byHash(hashHex: string): ApiKey | null
  byId(id: KeyId): ApiKey | null
}

export interface AuthenticatedKey {
  readonly key: ApiKey
  /**
   * Whose rate it is: the line of the key that the user made, which all keys below it share, since
   * they would else be as many rates as a key likes.
   */
  readonly rateLineage: LineageId
  /** The caller's own copy (32 bytes); the caller wipes it when its request is over. */
  readonly proofKey: Uint8Array
  /** What refuses its calls that move value; absent: nothing does. */
  readonly frozen?: Fault
}

export interface ApiKeyAuthenticator {
  /**
   * @param header the value of `X-Api-Key`, empty when absent
   * @returns refusals: `UNAUTHENTICATED` (missing, malformed), `INVALID_KEY` (all else)
   */
  authenticate(header: string): Result<AuthenticatedKey>
  /** To be called when the record under this hash was created or changed. */
  invalidate(hashHex: string): void
  /** Wipes and forgets everything. */
  clear(): void
}

export interface ApiKeyAuthenticatorOptions {
  readonly reader: ApiKeyReader
  /** Keys of the other environment are refused. */
  readonly environment: Environment
  /** Derives the key of the proof of presence (32 bytes) from the secret. */
  readonly deriveProofKey: (secret: string) => Uint8Array
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Told of a key's first use in each minute, and of some more. */
  readonly saw?: (keyId: KeyId) => void
  readonly cachedKeysMax?: number
}

interface CachedKey {
  readonly key: ApiKey
  readonly rateLineage: LineageId
  readonly proofKey: Uint8Array
  readonly readAtMs: number
  /** Of its latest use. */
  minute: number
}

export function createApiKeyAuthenticator(
  options: ApiKeyAuthenticatorOptions,
): ApiKeyAuthenticator {
  const { reader, environment, deriveProofKey, nowMs, saw } = options
  const known = new LRUCache<string, CachedKey>({
    max: options.cachedKeysMax ?? CACHED_KEYS_MAX,
    // Requests hold copies, so that wiping here never blanks a key under a running request.
    dispose: (entry) => entry.proofKey.fill(0),
  })
  const unknownSinceMs = new LRUCache<string, number>({ max: CACHED_UNKNOWN_MAX })

  /** @param cached what is known of it, and has to be read anew */
  function find(
    secret: string,
    hashHex: string,
    cached: CachedKey | undefined,
    now: number,
  ): CachedKey | null {
    const missedAtMs = unknownSinceMs.get(hashHex)
    if (missedAtMs !== undefined && isFresh(missedAtMs, now, UNKNOWN_AGE_MS_MAX)) return null
    const key = reader.byHash(hashHex)
    if (key === null) {
      known.delete(hashHex)
      unknownSinceMs.set(hashHex, now)
      return null
    }
    unknownSinceMs.delete(hashHex)
    // The same hash is the same secret; a copy, since what drops out of the cache is wiped.
    const proofKey = cached === undefined ? deriveProofKey(secret) : cached.proofKey.slice()
    // Where a key was made never changes.
    const rateLineage = cached?.rateLineage ?? topLineageOf(key)
    const entry = { key, rateLineage, proofKey, readAtMs: now, minute: Number.NaN }
    known.set(hashHex, entry)
    return entry
  }

  /** A lineage is named by the first key in it, whose record stays. */
  function topLineageOf({ lineageId, parentLineageId }: ApiKey): LineageId {
    let top = lineageId
    let above = parentLineageId
    for (let depth = 0; above !== undefined && depth < SUB_KEY_DEPTH_MAX; depth++) {
      top = above
      above = reader.byId(above as string as KeyId)?.parentLineageId
    }
    return top
  }

  return {
    authenticate(header) {
      if (header.length !== SECRET_CHARS) return refuse(fault('UNAUTHENTICATED'))
      const now = nowMs()
      const hashHex = hash('sha256', header, 'hex')
      // Its place among the least used is renewed whenever it is read anew, which is near enough.
      let found: CachedKey | null | undefined = known.peek(hashHex)
      if (found === undefined || !isFresh(found.readAtMs, now, RECORD_AGE_MS_MAX)) {
        // What is known has passed this already, and every request asks.
        if (!SECRET.test(header)) return refuse(fault('UNAUTHENTICATED'))
        if (!header.startsWith(environment, ENVIRONMENT_AT)) return refuse(fault('INVALID_KEY'))
        found = find(header, hashHex, found, now)
      }
      if (found === null || found.key.environment !== environment) {
        return refuse(fault('INVALID_KEY'))
      }
      if (keyStatus(found.key, now) === 'revoked') return refuse(fault('INVALID_KEY'))
      const minute = Math.floor(now / MINUTE_MS)
      if (minute !== found.minute) {
        found.minute = minute
        saw?.(found.key.keyId)
      }
      const { key, rateLineage } = found
      return ok({ key, rateLineage, proofKey: new Uint8Array(found.proofKey) })
    },
    invalidate(hashHex) {
      known.delete(hashHex)
      unknownSinceMs.delete(hashHex)
    },
    clear() {
      known.clear()
      unknownSinceMs.clear()
    },
  }
}

/** A clock that stepped back makes an entry stale rather than immortal. */
function isFresh(readAtMs: number, nowMs: number, ageMsMax: number): boolean {
  const age = nowMs - readAtMs
  return age >= 0 && age < ageMsMax
}
