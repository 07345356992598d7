import { type FreezeSubject, freezeScopeOf } from '../../custody/authorizers/freeze-statement.js'
import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import { expectBytes, expectInteger } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { FreezeRequest, UnfreezeRequest } from './freezes.js'

/** Parses the parameters of the socket's `freeze-*` calls. */

const USER_ID_CHARS_MAX = 255
const TOKEN_CHARS_MAX = 8_192

/** @param fields `[scope, subject]` */
export function parseSubject([scope, subject]: readonly unknown[]): FreezeSubject {
  return { scope: freezeScopeOf(expectInteger(scope)), subject: expectBytes(subject, 32) }
}

/** @param fields `[scope, subject, userId]` */
export function parseFreezeRequest(fields: readonly unknown[]): FreezeRequest {
  return { ...parseSubject(fields), userId: text(fields[2], USER_ID_CHARS_MAX) }
}

/** @param fields `[scope, subject, userId, consoleToken, confirmation, confirmBeforeMs, sequence]` */
export function parseUnfreezeRequest(
  fields: readonly unknown[],
): UnfreezeRequest & { readonly consoleToken: string } {
  const confirmation = fields[4] === null ? null : expectBytes(fields[4])
  if (confirmation !== null && confirmation.length > PROOF_BYTES_MAX) throw malformed()
  return {
    ...parseFreezeRequest(fields),
    consoleToken: text(fields[3], TOKEN_CHARS_MAX),
    confirmation,
    confirmBeforeMs: expectInteger(fields[5]),
    sequence: fields[6] === undefined ? null : expectInteger(fields[6]),
  }
}

function text(value: unknown, charsMax: number): string {
  if (typeof value !== 'string' || value.length > charsMax) throw malformed()
  return value
}

function malformed(): Refusal {
  return new Refusal('MALFORMED', 'freeze request')
}
