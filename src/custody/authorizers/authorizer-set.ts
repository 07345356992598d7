import type { KeyObject } from 'node:crypto'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { WebAuthnPins } from '../../quorum-protocol/registry.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { Authorizer } from './authorizer.js'
import {
  type AuthorizerCertificate,
  type AuthorizerEntry,
  authorizerIdOf,
  certificateMessage,
  decodeCertificate,
} from './certificate.js'
import { checkPossession } from './possession.js'
import { decodeProof, type Proof } from './proof.js'
import { checkRootApproval, isRootApproval } from './recovery.js'
import { verifyProof } from './verify-proof.js'

/** A user's authorizers after the certificates up to `sequence`. */
export interface AuthorizerSet {
  readonly sequence: number
  /** 32 bytes: SHA-256 of the newest certificate; zeros before the first. */
  readonly head: Uint8Array
  readonly active: readonly Authorizer[]
}

export const NO_AUTHORIZERS: AuthorizerSet = { sequence: 0, head: Buffer.alloc(32), active: [] }

/** Spec silent: enough for every device of a person and a few scripts. */
const AUTHORIZERS_MAX = 16
/** A user's additions and removals in total, so that verifying all of them stays cheap. */
export const ENTRIES_MAX = 256
/**
 * The last places are for the root: a thief of one authorizer could otherwise use them all up and
 * leave the user no recovery.
 */
export const CHANGES_MAX = ENTRIES_MAX - 16

/** Applies an entry without checking its proofs: for entries that were verified before. */
export function foldEntry(set: AuthorizerSet, entry: AuthorizerEntry): AuthorizerSet {
  const certificate = decodeCertificate(entry.certificate)
  // A user who has lost every authorizer does not know who has them now, so a recovery ends them
  // all.
  const others = isRootApproval(entry.approval)
    ? []
    : set.active.filter(({ id }) => !sameBytes(id, certificate.authorizerId))
  return {
    sequence: certificate.sequence,
    head: sha256(entry.certificate),
    active: certificate.action === 'remove' ? others : [...others, authorizerOf(certificate)],
  }
}

/** The state besides earlier entries by which an entry is verified. */
interface EntryContext {
  readonly webauthn: WebAuthnPins | null
  /** The registry's root, which approves for a user who has lost every authorizer. */
  readonly root: KeyObject
  signCount(authorizerId: Uint8Array): number
}

/** The new set, and the signature counters that the entry showed. */
interface VerifiedEntry {
  readonly set: AuthorizerSet
  readonly signCounts: readonly { readonly authorizerId: Uint8Array; readonly signCount: number }[]
}

/**
 * Verifies an entry except for the identity provider's signature: its place, the new key's proof,
 * and the approval by an earlier authorizer of the user or by the registry's root.
 * @throws Refusal MALFORMED, CONFLICT or NOT_CONFIRMED with the reason
 */
export async function verifyEntry(
  set: AuthorizerSet,
  entry: Omit<AuthorizerEntry, 'userSignature'>,
  context: EntryContext,
): Promise<VerifiedEntry> {
  const certificate = decodeCertificate(entry.certificate)
  const isRecovery = isRootApproval(entry.approval)
  checkPlace(set, certificate, isRecovery ? 'recovery' : 'change')
  const signCounts: { authorizerId: Uint8Array; signCount: number }[] = []
  if (certificate.action === 'add') {
    const signCount = await checkPossession(
      certificate,
      entry.certificate,
      entry.possession,
      context.webauthn,
    )
    signCounts.push({ authorizerId: certificate.authorizerId, signCount })
  }
  if (isRecovery) {
    checkRootApproval(entry.approval, entry.certificate, context.root)
  } else if (set.sequence > 0) {
    const approval = await checkApproval(set, entry, context)
    signCounts.push(approval)
  } else if (entry.approval.length > 0) {
    throw new Refusal('MALFORMED', 'approval of a first authorizer')
  }
  return { set: foldEntry(set, { ...entry, userSignature: Buffer.alloc(64) }), signCounts }
}

/** @throws Refusal unless the certificate is this user's next one and is valid there */
function checkPlace(
  set: AuthorizerSet,
  certificate: AuthorizerCertificate,
  kind: 'recovery' | 'change',
): void {
  if (certificate.sequence !== set.sequence + 1 || !sameBytes(certificate.previous, set.head)) {
    throw new Refusal('CONFLICT', 'the user’s authorizers have changed')
  }
  if (certificate.sequence > (kind === 'recovery' ? ENTRIES_MAX : CHANGES_MAX)) {
    throw new Refusal('CONFLICT', 'too many changes')
  }
  if (kind === 'recovery' && (set.sequence === 0 || certificate.action === 'remove')) {
    throw new Refusal('MALFORMED', 'there is nothing to recover')
  }
  const isKnown = set.active.some(({ id }) => sameBytes(id, certificate.authorizerId))
  if (certificate.action === 'remove') {
    if (!isKnown) throw new Refusal('CONFLICT', 'no such authorizer of this user')
    // Without any authorizer, the next one would count as the first and need no approval.
    if (set.active.length === 1) throw new Refusal('CONFLICT', 'the last authorizer stays')
    return
  }
  if (isKnown) throw new Refusal('CONFLICT', 'the authorizer is registered already')
  if (kind === 'change' && set.active.length >= AUTHORIZERS_MAX)
    throw new Refusal('CONFLICT', 'too many authorizers')
  const { credentialId, publicKey } = certificate
  if (!sameBytes(certificate.authorizerId, authorizerIdOf(credentialId, publicKey))) {
    throw new Refusal('MALFORMED', 'authorizer id')
  }
  if (certificate.kind === 'p256' && credentialId.length > 0) {
    throw new Refusal('MALFORMED', 'credential of a P-256 key')
  }
}

async function checkApproval(
  set: AuthorizerSet,
  entry: Omit<AuthorizerEntry, 'userSignature'>,
  context: EntryContext,
): Promise<{ authorizerId: Uint8Array; signCount: number }> {
  const proof: Proof | null = entry.approval.length === 0 ? null : decodeProof(entry.approval)
  if (proof === null) throw new Refusal('NOT_CONFIRMED', 'no approval by an older authorizer')
  const verdict = await verifyProof(proof, certificateMessage(entry.certificate), {
    authorizers: set.active,
    webauthn: context.webauthn,
    softwareAuthorizer: null,
    signCount: context.signCount,
  })
  if (!verdict.ok || verdict.authorizer === null) {
    throw new Refusal('NOT_CONFIRMED', verdict.ok ? 'approval' : verdict.reason)
  }
  return { authorizerId: verdict.authorizer.id, signCount: verdict.signCount }
}

function authorizerOf(certificate: AuthorizerCertificate): Authorizer {
  const { authorizerId, kind, label, createdAtMs, credentialId, publicKey } = certificate
  return { id: authorizerId, kind, label, createdAtMs, credentialId, publicKey }
}
