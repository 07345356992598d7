import type { KeyId, LineageId, SubWalletId, UserId } from './ids.js'
import type { ChangeableName, KeyPolicy } from './key-policy.js'

/** The old key keeps working for 24 hours after rotation (CONTRACT.md, "Keys"). */
export const ROTATION_GRACE_MS = 24 * 60 * 60 * 1_000

export type Permission = KeyPolicy['permission']
export type Environment = 'live' | 'test'
export type KeyStatus = 'active' | 'rotated_out' | 'revoked'

/** An API key as stored. The secret is never here: only its SHA-256 and its first characters. */
export interface ApiKey extends KeyPolicy {
  readonly keyId: KeyId
  /** The first key of the line of rotations; spend is counted per lineage. */
  readonly lineageId: LineageId
  /** The lineage of the key that made this one for itself; absent: the user made it. */
  readonly parentLineageId?: LineageId
  readonly subWalletId: SubWalletId
  readonly userId: UserId
  readonly name: string
  readonly environment: Environment
  /** Hex SHA-256 of the secret. 24 random bytes need no slow hash. */
  readonly secretHash: string
  /** First 12 characters of the secret, to tell keys apart on a screen. */
  readonly secretPrefix: string
  /** Counts the changes of `policy`; absent while there never was one. */
  readonly policyVersion?: number
  readonly createdAtMs: number
  /** When it ends by itself; absent: never. */
  readonly endsAtMs?: number
  readonly rotatedFrom: KeyId | null
  /** Set when a successor was made; the key lives for ROTATION_GRACE_MS more. */
  readonly rotatedAtMs: number | null
  readonly revokedAtMs: number | null
}

/** What of a key its owner may change. */
export type KeyPatch = Partial<Pick<ApiKey, 'name' | ChangeableName>>

/** Neither revoked nor rotated out. Time alone never changes it, unlike the status. */
export function isLive({ rotatedAtMs, revokedAtMs }: ApiKey): boolean {
  return rotatedAtMs === null && revokedAtMs === null
}

/** Derived, never stored: time alone turns a rotated-out key into a revoked one. */
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
 * For so long after its end a key counts as one that may be used again, by a clock that steps back.
 * With clocks that are further off nothing is begun.
 */
const ENDED_RECENTLY_MS = 7 * 86_400_000

/** Whether what is taken from its lineage has to be taken from this key as well. */
export function mayStillBeUsed(key: ApiKey, nowMs: number): boolean {
  const endsAtMs = keyExpiresAtMs(key)
  return key.revokedAtMs === null && (endsAtMs === null || nowMs < endsAtMs + ENDED_RECENTLY_MS)
}

/** When it ends by itself, or by its rotation; null: not without being revoked. */
export function keyExpiresAtMs({ rotatedAtMs, endsAtMs }: ApiKey): number | null {
  const graceEndMs =
    rotatedAtMs === null ? Number.POSITIVE_INFINITY : rotatedAtMs + ROTATION_GRACE_MS
  const expiresAtMs = Math.min(graceEndMs, endsAtMs ?? Number.POSITIVE_INFINITY)
  return expiresAtMs === Number.POSITIVE_INFINITY ? null : expiresAtMs
}
