import { ByteReader, concat, sameBytes } from '../../quorum-protocol/bytes.js'
import { publicKeyFromRaw, verifyP256 } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { WebAuthnPins } from '../../quorum-protocol/registry.js'
import {
  type AuthorizerCertificate,
  certificateMessage,
  registrationChallenge,
} from './certificate.js'
import { sized, takeSized } from './proof.js'
import { webAuthnLibrary } from './webauthn-library.js'

/** That whoever adds an authorizer holds its key: a passkey's registration, or a signature. */
export interface PasskeyRegistration {
  readonly attestationObject: Uint8Array
  readonly clientDataJson: Uint8Array
}

/** COSE algorithms: ES256, EdDSA, RS256 (RFC 9053; Windows Hello has the last one alone). */
export const PASSKEY_ALGORITHMS = [-7, -8, -257]

export function encodeRegistration(registration: PasskeyRegistration): Buffer {
  return concat(...sized(registration.attestationObject), ...sized(registration.clientDataJson))
}

/** @throws Refusal MALFORMED */
export function decodeRegistration(bytes: Uint8Array): PasskeyRegistration {
  const reader = new ByteReader(bytes)
  const attestationObject = takeSized(reader)
  const clientDataJson = takeSized(reader)
  reader.end()
  return { attestationObject, clientDataJson }
}

/** What a registration says of the new passkey. */
export interface RegisteredPasskey {
  readonly credentialId: Buffer
  /** COSE. */
  readonly publicKey: Buffer
  readonly signCount: number
}

/**
 * Verifies a registration against challenge, origin, rp id and user verification.
 * @param challenge 32 bytes
 * @throws Refusal NOT_CONFIRMED with the reason
 */
export async function verifyRegistration(
  registration: PasskeyRegistration,
  challenge: Uint8Array,
  webauthn: WebAuthnPins | null,
): Promise<RegisteredPasskey> {
  if (webauthn === null) throw new Refusal('NOT_CONFIRMED', 'passkeys are not taken here')
  const { verifyRegistrationResponse } = await webAuthnLibrary()
  try {
    await refuseForeignAttestation(registration.attestationObject)
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        // The credential's id is read from the attestation; this one is held against itself alone.
        id: 'AA',
        rawId: 'AA',
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          attestationObject: Buffer.from(registration.attestationObject).toString('base64url'),
          clientDataJSON: Buffer.from(registration.clientDataJson).toString('base64url'),
        },
      },
      expectedChallenge: Buffer.from(challenge).toString('base64url'),
      expectedOrigin: [...webauthn.origins],
      expectedRPID: webauthn.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: PASSKEY_ALGORITHMS,
    })
    if (!verified) throw new Error('the attestation does not verify')
    const { id, publicKey, counter } = registrationInfo.credential
    return {
      credentialId: Buffer.from(id, 'base64url'),
      publicKey: Buffer.from(publicKey),
      signCount: counter,
    }
  } catch (error) {
    throw new Refusal('NOT_CONFIRMED', error instanceof Error ? error.message : 'registration')
  }
}

/**
 * Holds an added authorizer's certificate against what proves its key.
 * @returns the use count the authenticator starts from
 * @throws Refusal NOT_CONFIRMED or MALFORMED
 */
export async function checkPossession(
  certificate: AuthorizerCertificate,
  encoded: Uint8Array,
  possession: Uint8Array,
  webauthn: WebAuthnPins | null,
): Promise<number> {
  if (certificate.kind === 'p256') {
    const key = pointOrNull(certificate.publicKey)
    if (key === null || !verifyP256(key, certificateMessage(encoded), possession)) {
      throw new Refusal('NOT_CONFIRMED', 'the new key has not signed its certificate')
    }
    return 0
  }
  const registration = decodeRegistration(possession)
  const challenge = registrationChallenge(certificate)
  const passkey = await verifyRegistration(registration, challenge, webauthn)
  if (
    !sameBytes(passkey.credentialId, certificate.credentialId) ||
    !sameBytes(passkey.publicKey, certificate.publicKey)
  ) {
    throw new Refusal('NOT_CONFIRMED', 'registration of another passkey')
  }
  return passkey.signCount
}

/**
 * Attestation is not asked for. Chains of certificates that come unasked are not looked at: to
 * check them means to fetch revocation lists from addresses of the sender's choice.
 */
async function refuseForeignAttestation(attestationObject: Uint8Array): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const decoded = decodeAttestationObject(Uint8Array.from(attestationObject))
  const format = decoded.get('fmt')
  const selfSigned = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
  if (format !== 'none' && !selfSigned) throw new Error('attestation that was not asked for')
}

function pointOrNull(raw: Uint8Array) {
  try {
    return publicKeyFromRaw(raw)
  } catch {
    return null
  }
}
