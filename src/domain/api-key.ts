import type { KeyId, LineageId, SubWalletId, UserId } from './ids.js'
import type { ChangeableName, KeyPolicy } from './key-policy.js'

/** The old key keeps working for 24 hours after rotation (CONTRACT.md, "Keys"). */
export const ROTATION_GRACE_MS = 24 * 60 * 60 * 1_000

export type Permission = KeyPolicy['permission']
export type Environment = 'live' | 'test'
type KeyStatus = 'active' | 'rotated_out' | 'revoked'

/** An API key as stored. The secret is never stored: only its SHA-256 and its first characters. */
export interface ApiKey extends KeyPolicy {
  readonly keyId: KeyId
  /** The first key of a chain of rotations; spend is counted per lineage. */
  readonly lineageId: LineageId
  /** The lineage of the key that made this one; absent when the user made it. */
  readonly parentLineageId?: LineageId
  readonly subWalletId: SubWalletId
  readonly userId: UserId
  readonly name: string
  readonly environment: Environment
  /** Hex SHA-256 of the secret. 24 random bytes need no slow hash. */
  readonly secretHash: string
  /** First 12 characters of the secret, to tell keys apart on a screen. */
  readonly secretPrefix: string
  /** Counts the changes of `policy`; absent while it has not changed. */
  readonly policyVersion?: number
  readonly createdAtMs: number
  /** The time at which the key ends by itself; absent when it never does. */
  readonly endsAtMs?: number
  readonly rotatedFrom: KeyId | null
  /** Set when a successor was made; the key then lives for another ROTATION_GRACE_MS. */
  readonly rotatedAtMs: number | null
  readonly revokedAtMs: number | null
}

/** The fields of a key that its owner may change. */
export type KeyPatch = Partial<Pick<ApiKey, 'name' | ChangeableName>>

/**
 * Whether the key is neither revoked nor rotated. Unlike the status, this never changes by time
 * alone.
 */
export function isLive({ rotatedAtMs, revokedAtMs }: ApiKey): boolean {
  return rotatedAtMs === null && revokedAtMs === null
}

/** Derives the status, which is never stored: time by itself turns a rotated key into a revoked one. */
export function keyStatus(
  key: Pick<ApiKey, 'revokedAtMs' | 'endsAtMs' | 'rotatedAtMs'>,
  nowMs: number,
): KeyStatus {
  if (key.revokedAtMs !== null) return 'revoked'
  if (key.endsAtMs !== undefined && nowMs >= key.endsAtMs) return 'revoked'
  if (key.rotatedAtMs === null) return 'active'
  return nowMs < key.rotatedAtMs + ROTATION_GRACE_MS ? 'rotated_out' : 'revoked'
}

/**
 * For this long after its end, a key counts as one that a clock stepping back could make usable
 * again. With clocks further off no call is started.
 */
const ENDED_RECENTLY_MS = 7 * 86_400_000

/** Whether a permission taken from its lineage has to be taken from this key as well. */
export function mayStillBeUsed(key: ApiKey, nowMs: number): boolean {
  const endsAtMs = keyExpiresAtMs(key)
  return key.revokedAtMs === null && (endsAtMs === null || nowMs < endsAtMs + ENDED_RECENTLY_MS)
}

/**
 * The time at which the key ends by itself or by its rotation; null when it ends only by being
 * revoked.
 */
export function keyExpiresAtMs({ rotatedAtMs, endsAtMs }: ApiKey): number | null {
  const graceEndMs =
    rotatedAtMs === null ? Number.POSITIVE_INFINITY : rotatedAtMs + ROTATION_GRACE_MS
  const expiresAtMs = Math.min(graceEndMs, endsAtMs ?? Number.POSITIVE_INFINITY)
  return expiresAtMs === Number.POSITIVE_INFINITY ? null : expiresAtMs
}
