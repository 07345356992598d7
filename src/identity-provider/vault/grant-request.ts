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
  /** What the user's authenticator made for an enlargement; null: none was sent. */
  readonly confirmation: Uint8Array | null
}

const USER_ID_CHARS_MAX = 255
const TOKEN_CHARS_MAX = 8_192
const CONFIRMATION_BYTES_MAX = 4_096
const CHAINS_MAX = 16

/**
 * @param fields `[keyId, walletId, rotatedFrom, userId, permission, chains, proofKey, expiresAtMs,
 * revoked, consoleToken, confirmation]`
 * @throws Refusal MALFORMED
 */
export function parseGrantRequest(fields: readonly unknown[]): GrantRequest {
  const permission = fields[4]
  if (permission !== 'read' && permission !== 'trade') throw malformed('permission')
  const revoked = fields[8]
  if (typeof revoked !== 'boolean') throw malformed('revoked')
  const confirmation = fields[10] === null ? null : expectBytes(fields[10])
  if (confirmation !== null && confirmation.length > CONFIRMATION_BYTES_MAX) {
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
  }
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
