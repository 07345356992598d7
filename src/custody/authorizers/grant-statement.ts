import type { GrantTerms } from '../../domain/grant-terms.js'
import { ByteReader, concat, isZero, u8, u32, u64, u256, viewOf } from '../protocol/bytes.js'
import { Refusal } from '../protocol/refusal.js'
import { sha256, TAG, tagged } from '../protocol/tagged.js'

/**
 * A grant as it is to become, in canonical bytes: what the user's authorizer signs, what both
 * domains hold a proof against, and what stands in the evidence. The version makes each statement
 * good for one change alone: a grant never has the same version twice.
 */
export interface GrantStatement extends GrantTerms {
  /** 16 bytes each. */
  readonly keyId: Uint8Array
  readonly grantId: Uint8Array
  /** That the grant has once this is in force. */
  readonly version: number
  readonly walletId: Uint8Array
  /** 32 bytes: SHA-256 of the user id. */
  readonly ownerHash: Uint8Array
  readonly revoked: boolean
  /** The key that this one takes the place of; null for a key of its own. */
  readonly rotatedFrom: Uint8Array | null
  /** 32 bytes: SHA-256 of the key that proves the API secret; null: it stays as it is. */
  readonly proofKeyDigest: Uint8Array | null
  /** Until when a proof over it is taken, ms since the epoch; 0 when none was asked for. */
  readonly confirmBeforeMs: number
}

const MAGIC = Buffer.from('AWG1', 'latin1')
const CHAINS_MAX = 16
/** How long a person may take to confirm a grant. */
export const CONFIRMATION_LIFE_MS = 10 * 60_000

export function encodeGrantStatement(grant: GrantStatement): Buffer {
  return concat(
    MAGIC,
    grant.keyId,
    grant.grantId,
    u32(grant.version),
    grant.walletId,
    grant.ownerHash,
    u8(grant.permission === 'trade' ? 2 : 1),
    // No key expires at the epoch, so that zero can stand for never.
    u64(grant.expiresAtMs ?? 0),
    u8(grant.revoked ? 1 : 0),
    capBytes(grant.dailyLimitMicros),
    capBytes(grant.monthlyLimitMicros),
    u8(grant.unpricedAssets === 'allow' ? 2 : 1),
    grant.rotatedFrom ?? Buffer.alloc(16),
    grant.proofKeyDigest ?? Buffer.alloc(32),
    u64(grant.confirmBeforeMs),
    u8(grant.chains.length),
    ...grant.chains.map(u32),
  )
}

/**
 * Reads a statement from the front of `bytes`.
 * @returns the statement, its own bytes, and what follows it
 * @throws Refusal MALFORMED
 */
export function readGrantStatement(bytes: Uint8Array): {
  readonly statement: GrantStatement
  readonly encoded: Uint8Array
  readonly rest: Uint8Array
} {
  const reader = new ByteReader(bytes)
  if (!MAGIC.equals(reader.take(4))) throw new Refusal('MALFORMED', 'no grant statement')
  const keyId = reader.take(16)
  const grantId = reader.take(16)
  const version = reader.u32()
  const walletId = reader.take(16)
  const ownerHash = reader.take(32)
  const permission = choice(reader.u8(), 'read', 'trade')
  const expires = reader.u64()
  const revoked = choice(reader.u8() + 1, 'no', 'yes') === 'yes'
  const dailyLimitMicros = readCap(reader)
  const monthlyLimitMicros = readCap(reader)
  const unpricedAssets = choice(reader.u8(), 'deny', 'allow')
  const rotatedFrom = presentBytes(reader.take(16))
  const proofKeyDigest = presentBytes(reader.take(32))
  const confirmBeforeMs = reader.u64()
  const count = reader.u8()
  if (count > CHAINS_MAX) throw new Refusal('MALFORMED', 'chains')
  const chains = Array.from({ length: count }, () => reader.u32())
  const rest = reader.rest()
  return {
    statement: {
      keyId,
      grantId,
      version,
      walletId,
      ownerHash,
      permission,
      expiresAtMs: expires === 0 ? null : expires,
      revoked,
      dailyLimitMicros,
      monthlyLimitMicros,
      unpricedAssets,
      rotatedFrom,
      proofKeyDigest,
      confirmBeforeMs,
      chains,
    },
    encoded: bytes.subarray(0, bytes.length - rest.length),
    rest,
  }
}

/** What a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
export function grantMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.grantChange, encoded)
}

/** 32 bytes. */
export function grantChallenge(encoded: Uint8Array): Buffer {
  return sha256(grantMessage(encoded))
}

function capBytes(micros: bigint | null): Uint8Array {
  return micros === null ? concat(u8(0), u256(0n)) : concat(u8(1), u256(micros))
}

function readCap(reader: ByteReader): bigint | null {
  const capped = reader.u8()
  const micros = reader.u256()
  if (capped === 1) return micros
  // One form only: the same terms never have two encodings.
  if (capped === 0 && micros === 0n) return null
  throw new Refusal('MALFORMED', 'cap')
}

function choice<A, B>(byte: number, one: A, two: B): A | B {
  if (byte === 1) return one
  if (byte === 2) return two
  throw new Refusal('MALFORMED', 'grant statement')
}

function presentBytes(bytes: Uint8Array): Uint8Array | null {
  return isZero(bytes) ? null : viewOf(bytes)
}
