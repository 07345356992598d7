import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type ApiKey, type Environment, keyStatus } from '../domain/api-key.js'
import type { KeyId, LineageId } from '../domain/ids.js'
import { SUB_KEY_DEPTH_MAX } from '../domain/sub-key.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'

/**
 * Resolves the `X-Api-Key` header to its key record. It owns a bounded cache of records and proof
 * keys; the store has the authoritative record, and the wallet's actor checks the status again
 * before it spends.
 *
 * No comparison here is byte by byte over secrets: the presented secret is hashed first, and only
 * the hash is looked up. The timing of a map or B-tree lookup reveals only something about SHA-256
 * of a guess, which does not help to find 192 random bits. The index is exact, so no second
 * comparison follows.
 */

const SECRET = /^sk_(?:live|test)_[A-Za-z0-9_-]{32}$/
const SECRET_CHARS = 'sk_test_'.length + 32
const ENVIRONMENT_AT = 'sk_'.length

/** Checks only the form: a value without it belongs to nobody and needs no lookup. */
export function isSecret(header: string): boolean {
  return header.length === SECRET_CHARS && SECRET.test(header)
}

/** The bound of cached keys; a record and its proof key take about 1 kB. */
const CACHED_KEYS_MAX = 50_000
/**
 * The bound of cached unknown hashes, so that a flood of wrong keys reads the store once for each.
 */
const CACHED_UNKNOWN_MAX = 10_000
/** How long reads may miss a change made without `invalidate`, such as a restore. */
const RECORD_AGE_MS_MAX = 5_000
/** Short, so that a new key works soon even without `invalidate`. */
const UNKNOWN_AGE_MS_MAX = 1_000
const MINUTE_MS = 60_000

/** The store's reads. */
export interface ApiKeyReader {
  /** @param hashHex SHA-256 of the secret */
  byHash(hashHex: string): ApiKey | null
  byId(id: KeyId): ApiKey | null
}

export interface AuthenticatedKey {
  readonly key: ApiKey
  /**
   * The lineage whose rate limit applies: that of the key that the user made. All keys below it
   * share it; otherwise a key could multiply its limit by making keys.
   */
  readonly rateLineage: LineageId
  /** The caller's own copy (32 bytes), which the caller wipes at the end of its request. */
  readonly proofKey: Uint8Array
  /** The freeze that refuses its calls that move value; absent when not frozen. */
  readonly frozen?: Fault
}

interface ApiKeyAuthenticator {
  /**
   * @param header the value of `X-Api-Key`, empty when absent
   * @returns refusals: `UNAUTHENTICATED` (missing, malformed), `INVALID_KEY` (all else)
   */
  authenticate(header: string): Result<AuthenticatedKey>
  /** Called when the record under this hash was created or changed. */
  invalidate(hashHex: string): void
  /** Wipes and forgets everything. */
  clear(): void
}

interface ApiKeyAuthenticatorOptions {
  readonly reader: ApiKeyReader
  /** Keys of the other environment are refused. */
  readonly environment: Environment
  /** Derives the key of the proof of presence (32 bytes) from the secret. */
  readonly deriveProofKey: (secret: string) => Uint8Array
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Called for a key's first use in each minute, and occasionally more often. */
  readonly saw?: (keyId: KeyId) => void
  readonly cachedKeysMax?: number
}

interface CachedKey {
  readonly key: ApiKey
  readonly rateLineage: LineageId
  readonly proofKey: Uint8Array
  readonly readAtMs: number
  /** The minute of its latest use. */
  minute: number
}

export function createApiKeyAuthenticator(
  options: ApiKeyAuthenticatorOptions,
): ApiKeyAuthenticator {
  const { reader, environment, deriveProofKey, nowMs, saw } = options
  const known = new LRUCache<string, CachedKey>({
    max: options.cachedKeysMax ?? CACHED_KEYS_MAX,
    // Requests hold copies, so wiping here never clears a key that a request still uses.
    dispose: (entry) => entry.proofKey.fill(0),
  })
  const unknownSinceMs = new LRUCache<string, number>({ max: CACHED_UNKNOWN_MAX })

  /** @param cached the known entry, which has to be read again */
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
    // The same hash means the same secret. A copy, because entries that leave the cache are
    // wiped.
    const proofKey = cached === undefined ? deriveProofKey(secret) : cached.proofKey.slice()
    // The lineage at the top never changes.
    const rateLineage = cached?.rateLineage ?? topLineageOf(key)
    const entry = { key, rateLineage, proofKey, readAtMs: now, minute: Number.NaN }
    known.set(hashHex, entry)
    return entry
  }

  /** A lineage is named after its first key, whose record stays. */
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
      // Its position in the cache is renewed only when the record is read again, which is
      // enough.
      let found: CachedKey | null | undefined = known.peek(hashHex)
      if (found === undefined || !isFresh(found.readAtMs, now, RECORD_AGE_MS_MAX)) {
        // A known hash has passed this check already, and every request comes here.
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

/** A clock that was set back makes an entry stale, never everlasting. */
function isFresh(readAtMs: number, nowMs: number, ageMsMax: number): boolean {
  const age = nowMs - readAtMs
  return age >= 0 && age < ageMsMax
}
