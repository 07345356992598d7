import type { KeyObject } from 'node:crypto'
import { ByteReader, concat, u8 } from '../../quorum-protocol/bytes.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { TAG, tagged } from '../../quorum-protocol/tagged.js'

/**
 * Recovery for a user who has lost every authorizer: the registry's root approves a new one in their
 * place. Neither domain may do this, because it could then enlarge grants by itself. Both trust the
 * root without trusting each other, and the root gains nothing: it already names every key that they
 * trust. It signs one certificate, for one user, one key and one place in that user's changes.
 */

/**
 * Numbered like the kinds of `proof.ts`, in the same field of an entry; never given a second
 * meaning.
 */
const ROOT_APPROVAL = 4

/** Returns what the root signs. */
export function recoveryMessage(certificate: Uint8Array): Buffer {
  return tagged(TAG.authorizerRecovery, certificate)
}

/** @param signature 64 bytes r ‖ s by the root */
export function encodeRootApproval(signature: Uint8Array): Buffer {
  return concat(u8(ROOT_APPROVAL), signature)
}

/** True when the root approved an entry, which ends all earlier authorizers. */
export function isRootApproval(approval: Uint8Array): boolean {
  return approval[0] === ROOT_APPROVAL
}

/** @throws Refusal NOT_CONFIRMED or MALFORMED */
export function checkRootApproval(
  approval: Uint8Array,
  certificate: Uint8Array,
  root: KeyObject,
): void {
  const reader = new ByteReader(approval)
  reader.u8()
  const signature = reader.take(64)
  reader.end()
  if (!verifyP256(root, recoveryMessage(certificate), signature)) {
    throw new Refusal('NOT_CONFIRMED', 'the signature is not the registry root’s over this key')
  }
}
