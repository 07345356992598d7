import { GRANT_PUT_PARTS, type GrantPutPart } from '../../custody/authorizers/grant-put.js'
import { POLICY_CODECS } from '../../custody/authorizers/policy-codecs.js'
import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import { type GrantTerms, grantedPolicy } from '../../domain/grant-terms.js'
import { expectBytes, expectInteger } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'

/** A change to what a key may do, as it arrives from the service. */
export interface GrantRequest extends GrantTerms {
  /** 16 bytes each. */
  readonly keyId: Uint8Array
  readonly walletId: Uint8Array
  /** The key that this one takes the place of; null for a key of its own. */
  readonly rotatedFrom: Uint8Array | null
  /** The grant of the key that made this one; null for one that its user made. */
  readonly parentId: Uint8Array | null
  /** The key that makes this one now; null for every other change. */
  readonly madeBy: Uint8Array | null
  /** 32 bytes: that key's word for it (`subKeyProof`). */
  readonly makerProof: Uint8Array | null
  readonly userId: string
  /** 32 bytes; null leaves it as it is. */
  readonly proofKey: Uint8Array | null
  readonly revoked: boolean
  readonly consoleToken: string
  /** An encoded proof of the user's authorizer for an enlargement; null: none was sent. */
  readonly confirmation: Uint8Array | null
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

/**
 * @param fields as `GRANT_PUT_PARTS` places them; `basedOn` may be left out
 * @throws Refusal MALFORMED
 */
export function parseGrantRequest(fields: readonly unknown[]): GrantRequest {
  const at = (part: GrantPutPart) => fields[GRANT_PUT_PARTS.indexOf(part)]
  const revoked = at('revoked')
  if (typeof revoked !== 'boolean') throw malformed('revoked')
  const confirmation = orNull(at('confirmation'), expectBytes)
  if (confirmation !== null && confirmation.length > PROOF_BYTES_MAX) {
    throw malformed('confirmation')
  }
  const basedOn = at('basedOn')
  return {
    ...grantedPolicy(({ name }) => POLICY_CODECS[name].fromPlain(at(name))),
    keyId: expectBytes(at('keyId'), 16),
    walletId: expectBytes(at('walletId'), 16),
    rotatedFrom: orNull(at('rotatedFrom'), (value) => expectBytes(value, 16)),
    parentId: orNull(at('parentId') ?? null, (value) => expectBytes(value, 16)),
    madeBy: orNull(at('madeBy') ?? null, (value) => expectBytes(value, 16)),
    makerProof: orNull(at('makerProof') ?? null, (value) => expectBytes(value, 32)),
    userId: text(at('userId'), USER_ID_CHARS_MAX),
    proofKey: orNull(at('proofKey'), (value) => expectBytes(value, 32)),
    expiresAtMs: orNull(at('expiresAtMs'), expectInteger),
    revoked,
    consoleToken: text(at('consoleToken'), TOKEN_CHARS_MAX),
    confirmation,
    confirmBeforeMs: expectInteger(at('confirmBeforeMs')),
    basedOn: basedOn === undefined ? null : expectInteger(basedOn),
  }
}

function orNull<T>(value: unknown, expect: (value: unknown) => T): T | null {
  return value === null ? null : expect(value)
}

function text(value: unknown, charsMax: number): string {
  if (typeof value !== 'string' || value.length > charsMax) throw malformed('text')
  return value
}

function malformed(what: string): Refusal {
  return new Refusal('MALFORMED', `grant request: ${what}`)
}
