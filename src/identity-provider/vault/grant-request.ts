import { GRANT_PUT_PARTS, type GrantPutPart } from '../../custody/authorizers/grant-put.js'
import { POLICY_CODECS } from '../../custody/authorizers/policy-codecs.js'
import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import { type GrantTerms, grantedPolicy } from '../../domain/grant-terms.js'
import { expectBytes, expectInteger } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'

/** A change of what a key may do, as the service sends it. */
export interface GrantRequest extends GrantTerms {
  /** 16 bytes each. */
  readonly keyId: Uint8Array
  readonly walletId: Uint8Array
  /** The key that this one replaces; null for a key of its own. */
  readonly rotatedFrom: Uint8Array | null
  /** The grant of the key that made this one; null when a user made it. */
  readonly parentId: Uint8Array | null
  /** The key that makes this one now; null for every other change. */
  readonly madeBy: Uint8Array | null
  /** 32 bytes: that key's proof (`subKeyProof`). */
  readonly makerProof: Uint8Array | null
  readonly userId: string
  /** 32 bytes; null leaves the stored one in place. */
  readonly proofKey: Uint8Array | null
  readonly revoked: boolean
  readonly consoleToken: string
  /** An encoded proof by the user's authorizer for an enlargement; null when none was sent. */
  readonly confirmation: Uint8Array | null
  /** When the authorizer's proof expires; 0 without a proof. */
  readonly confirmBeforeMs: number
  /**
   * The version of the grant that the change was made for, 0 for a new key. Null, like a
   * revocation, applies to every version.
   */
  readonly basedOn: number | null
}

const USER_ID_CHARS_MAX = 255
const TOKEN_CHARS_MAX = 8_192

/**
 * @param fields in the order of `GRANT_PUT_PARTS`; `basedOn` may be omitted
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
