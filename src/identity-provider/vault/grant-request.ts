import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import { expectBytes, expectInteger, expectList } from '../../custody/protocol/bytes.js'
import { Refusal } from '../../custody/protocol/refusal.js'

/** A change to what a key may do, as it arrives from the service. */
export interface GrantRequest {
  /** 16 bytes each. */
  readonly keyId: Uint8Array
  readonly walletId: Uint8Array
  /** The key that this one takes the place of; null for a key of its own. */
  readonly rotatedFrom: Uint8Array | null
  readonly userId: string
  readonly permission: 'read' | 'trade'
  readonly chains: readonly number[]
  /** 32 bytes; null leaves it as it is. */
  readonly proofKey: Uint8Array | null
  readonly expiresAtMs: number | null
  readonly revoked: boolean
  readonly consoleToken: string
  /** An encoded proof of the user's authorizer for an enlargement; null: none was sent. */
  readonly confirmation: Uint8Array | null
  /** Micro-USD; null is unlimited. */
  readonly dailyLimitMicros: bigint | null
  readonly monthlyLimitMicros: bigint | null
  readonly unpricedAssets: 'deny' | 'allow'
  /** Until when the authorizer's proof is good; 0 without one. */
  readonly confirmBeforeMs: number
  /**
   * The grant's version that the change was made for, 0 for a key that was not there; null, and for
   * a revocation: whatever it meets.
   */
  readonly basedOn: number | null
}

const USER_ID_CHARS_MAX = 255
const TOKEN_CHARS_MAX = 8_192
/** 15 digits of USD and 6 of micros, as the wire allows. */
const MICROS = /^(0|[1-9]\d{0,20})$/
const CHAINS_MAX = 16

/**
 * @param fields `[keyId, walletId, rotatedFrom, userId, permission, chains, proofKey, expiresAtMs,
 * revoked, consoleToken, confirmation, dailyLimitMicros, monthlyLimitMicros, unpricedAssets,
 * confirmBeforeMs, basedOn]`; micros as decimal text; basedOn may be left out
 * @throws Refusal MALFORMED
 */
export function parseGrantRequest(fields: readonly unknown[]): GrantRequest {
  const permission = fields[4]
  if (permission !== 'read' && permission !== 'trade') throw malformed('permission')
  const revoked = fields[8]
  if (typeof revoked !== 'boolean') throw malformed('revoked')
  const unpricedAssets = fields[13]
  if (unpricedAssets !== 'deny' && unpricedAssets !== 'allow') throw malformed('unpriced assets')
  const confirmation = fields[10] === null ? null : expectBytes(fields[10])
  if (confirmation !== null && confirmation.length > PROOF_BYTES_MAX) {
    throw malformed('confirmation')
  }
  return {
    keyId: expectBytes(fields[0], 16),
    walletId: expectBytes(fields[1], 16),
    rotatedFrom: fields[2] === null ? null : expectBytes(fields[2], 16),
    userId: text(fields[3], USER_ID_CHARS_MAX),
    permission,
    chains: chainIds(fields[5]),
    proofKey: fields[6] === null ? null : expectBytes(fields[6], 32),
    expiresAtMs: fields[7] === null ? null : expectInteger(fields[7]),
    revoked,
    consoleToken: text(fields[9], TOKEN_CHARS_MAX),
    confirmation,
    dailyLimitMicros: micros(fields[11]),
    monthlyLimitMicros: micros(fields[12]),
    unpricedAssets,
    confirmBeforeMs: expectInteger(fields[14]),
    basedOn: fields[15] === undefined ? null : expectInteger(fields[15]),
  }
}

function micros(value: unknown): bigint | null {
  if (value === null) return null
  if (typeof value !== 'string' || !MICROS.test(value)) throw malformed('limit')
  return BigInt(value)
}

function chainIds(value: unknown): number[] {
  const chains = expectList(value, CHAINS_MAX).map(expectInteger)
  return [...new Set(chains)].sort((a, b) => a - b)
}

function text(value: unknown, charsMax: number): string {
  if (typeof value !== 'string' || value.length > charsMax) throw malformed('text')
  return value
}

function malformed(what: string): Refusal {
  return new Refusal('MALFORMED', `grant request: ${what}`)
}
