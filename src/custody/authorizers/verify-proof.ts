import type { KeyObject } from 'node:crypto'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { publicKeyFromRaw, verifyP256 } from '../../quorum-protocol/p256.js'
import type { WebAuthnPins } from '../../quorum-protocol/registry.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { Authorizer } from './authorizer.js'
import type { Proof } from './proof.js'
import { webAuthnLibrary } from './webauthn-library.js'

/** What a proof is verified against. Each domain calls this one function with its own state. */
export interface ProofContext {
  /** The user's active authorizers; a proof by any other does not count. */
  readonly authorizers: readonly Authorizer[]
  /** The origins of passkeys; null when passkeys are not accepted. */
  readonly webauthn: WebAuthnPins | null
  /** The key that confirms for users without an authorizer of their own; null in live mode. */
  readonly softwareAuthorizer: KeyObject | null
  /** Returns the highest signature counter seen of an authorizer; 0 before its first use. */
  signCount(authorizerId: Uint8Array): number
}

export type Verdict =
  | {
      readonly ok: true
      /** Null for the software authorizer. */
      readonly authorizer: Authorizer | null
      /** The authenticator's own signature counter; 0 when it keeps none. */
      readonly signCount: number
    }
  | { readonly ok: false; readonly reason: string }

/**
 * @param message what was confirmed, with its tag; a passkey signs its SHA-256 as challenge
 * @returns the proof's authorizer, or a reason that names no secret; never throws for a bad proof
 */
export async function verifyProof(
  proof: Proof,
  message: Uint8Array,
  context: ProofContext,
): Promise<Verdict> {
  if (proof.kind === 'software') return verifySoftware(proof.signature, message, context)
  const authorizer = context.authorizers.find(({ id }) => sameBytes(id, proof.authorizerId))
  if (authorizer === undefined) return refused('no such authorizer of this user')
  if (authorizer.kind !== proof.kind) return refused('authorizer of another kind')
  if (proof.kind === 'p256') {
    const key = publicKeyFromRaw(authorizer.publicKey)
    return verifyP256(key, message, proof.signature)
      ? { ok: true, authorizer, signCount: 0 }
      : refused('the signature is not this key’s over this grant')
  }
  return verifyPasskey(proof, message, authorizer, context)
}

function verifySoftware(
  signature: Uint8Array,
  message: Uint8Array,
  context: ProofContext,
): Verdict {
  const { softwareAuthorizer, authorizers } = context
  if (softwareAuthorizer === null) return refused('there is no software authorizer')
  if (authorizers.length > 0) return refused('the user has authorizers of their own')
  return verifyP256(softwareAuthorizer, message, signature)
    ? { ok: true, authorizer: null, signCount: 0 }
    : refused('the signature is not the software authorizer’s')
}

async function verifyPasskey(
  proof: Extract<Proof, { kind: 'passkey' }>,
  message: Uint8Array,
  authorizer: Authorizer,
  { webauthn, signCount }: ProofContext,
): Promise<Verdict> {
  if (webauthn === null) return refused('passkeys are not accepted here')
  const id = base64Url(authorizer.credentialId)
  const response: AuthenticationResponseJSON = {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      authenticatorData: base64Url(proof.authenticatorData),
      clientDataJSON: base64Url(proof.clientDataJson),
      signature: base64Url(proof.signature),
    },
  }
  const { verifyAuthenticationResponse } = await webAuthnLibrary()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: base64Url(sha256(message)),
      expectedOrigin: [...webauthn.origins],
      expectedRPID: webauthn.rpId,
      requireUserVerification: true,
      credential: {
        id,
        publicKey: Uint8Array.from(authorizer.publicKey),
        counter: signCount(authorizer.id),
      },
    })
    if (!verified) return refused('the signature is not this passkey’s')
    return { ok: true, authorizer, signCount: authenticationInfo.newCounter }
  } catch (error) {
    return refused(error instanceof Error ? error.message : 'not an assertion')
  }
}

function refused(reason: string): Verdict {
  return { ok: false, reason }
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
