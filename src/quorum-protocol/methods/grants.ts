import { GRANTED_FIELDS } from '../../domain/grant-terms.js'
import type { GrantedName, GrantedPolicy } from '../../domain/key-policy.js'
import { PROOF_BYTES_MAX } from '../limits.js'
import { POLICY_CODECS } from '../policy-codecs.js'
import {
  bytes,
  bytesUpTo,
  type Codec,
  flag,
  integer,
  orNull,
  orNullLater,
  orOmitted,
  positional,
  text,
} from './codec.js'
import type { Methods, ParametersOf } from './method.js'
import { TOKEN_CHARS_MAX, USER_ID_CHARS_MAX } from './person-fields.js'

const ID = bytes(16)

function granted<Name extends GrantedName>(name: Name): Codec<GrantedPolicy[Name]> {
  const { toPlain, fromPlain } = POLICY_CODECS[name]
  return { encode: toPlain, decode: (packed) => fromPlain(packed) as GrantedPolicy[Name] }
}

const FIRST = {
  keyId: ID,
  walletId: ID,
  /** The key that this one replaces; null for a key of its own. */
  rotatedFrom: orNull(ID),
  userId: text(USER_ID_CHARS_MAX, 'grant request: text'),
  permission: granted('permission'),
  allowedChains: granted('allowedChains'),
  /** Null leaves the stored one in place. */
  proofKey: orNull(bytes(32)),
  /** Milliseconds since the Unix epoch; null never expires. */
  expiresAtMs: orNull(integer),
  revoked: flag('grant request: revoked'),
  /** Empty without one. */
  consoleToken: text(TOKEN_CHARS_MAX, 'grant request: text'),
  /** An encoded proof by the user's authorizer for an enlargement; null when none was sent. */
  confirmation: orNull(bytesUpTo(PROOF_BYTES_MAX, 'grant request: confirmation')),
  dailyLimitMicros: granted('dailyLimitMicros'),
  monthlyLimitMicros: granted('monthlyLimitMicros'),
  unpricedAssets: granted('unpricedAssets'),
  /** When the authorizer's proof expires; 0 without a proof. */
  confirmBeforeMs: integer,
  /**
   * The version of the grant that the change was made for, 0 for a new key. Null, like a
   * revocation, applies to every version.
   */
  basedOn: orOmitted(integer),
}

type LaterName = Exclude<GrantedName, keyof typeof FIRST>

/** Fields of later forms of the grant, in the order of their rows. */
const LATER = Object.fromEntries(
  GRANTED_FIELDS.filter(({ name }) => !(name in FIRST)).map(({ name }) => [name, granted(name)]),
) as { readonly [Name in LaterName]: Codec<GrantedPolicy[Name]> }

export const GRANTS = {
  'grant-get': {
    callClass: 'lookup',
    admits: 'served',
    parameters: positional({ keyId: ID }),
    result: positional({ grantId: ID, version: integer }, 2),
  },
  'grant-put': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({
      ...FIRST,
      ...LATER,
      /** The grant of the key that made this one; null when a user made it. */
      parentId: orNullLater(ID),
      /** The key that makes this one now; null for every other change. */
      madeBy: orNullLater(ID),
      /** That key's proof (`subKeyProof`). */
      makerProof: orNullLater(bytes(32)),
    }),
    /** `proof`: the encoded proof that was accepted; empty when none was needed. */
    result: positional({ grantId: ID, version: integer, proof: bytes() }, 3),
  },
} as const satisfies Methods

/** A change of what a key may do, as the service sends it. */
export type GrantRequest = ParametersOf<(typeof GRANTS)['grant-put']>
