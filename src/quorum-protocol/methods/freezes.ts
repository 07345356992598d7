import type { FreezeScope } from '../../domain/freeze.js'
import { expectInteger } from '../bytes.js'
import { FREEZE_SCOPES, freezeScopeOf } from '../freeze-scopes.js'
import { PROOF_BYTES_MAX } from '../limits.js'
import {
  bytes,
  bytesUpTo,
  type Codec,
  integer,
  orNull,
  orOmitted,
  positional,
  text,
} from './codec.js'
import type { Methods } from './method.js'
import { TOKEN_CHARS_MAX, USER_ID_CHARS_MAX } from './person-fields.js'

const DETAIL = 'freeze request'

const SCOPE: Codec<FreezeScope> = {
  encode: (scope) => FREEZE_SCOPES[scope],
  decode: (packed) => freezeScopeOf(expectInteger(packed)),
}

/** `subject`: the owner's hash, or the id of a wallet or grant and zeros. */
const SUBJECT = { scope: SCOPE, subject: bytes(32) }
const OF_USER = { ...SUBJECT, userId: text(USER_ID_CHARS_MAX, DETAIL) }

/** `sequence` counts the subject's changes; `sinceMs` is null while it is not frozen. */
const STANDING = positional({ sequence: integer, sinceMs: orNull(integer) }, 2)

export const FREEZES = {
  // Freezes only take away, so they are accepted with less space.
  'freeze-put': {
    callClass: 'console',
    admits: 'served',
    parameters: positional(OF_USER),
    result: STANDING,
  },
  'freeze-get': {
    callClass: 'console',
    admits: 'served',
    parameters: positional(SUBJECT),
    result: STANDING,
  },
  'freeze-lift': {
    callClass: 'console',
    admits: 'served-with-space',
    parameters: positional({
      ...OF_USER,
      consoleToken: text(TOKEN_CHARS_MAX, DETAIL),
      /** An encoded proof by the user's authorizer; null when none was sent. */
      confirmation: orNull(bytesUpTo(PROOF_BYTES_MAX, DETAIL)),
      confirmBeforeMs: integer,
      /** The sequence after the freeze is lifted; an earlier build omits it. */
      sequence: orOmitted(integer),
    }),
    result: positional({ sequence: integer, proof: bytes() }, 2),
  },
} as const satisfies Methods
