import { ByteReader, concat, sameBytes } from '../../quorum-protocol/bytes.js'
import { publicKeyFromRaw, verifyP256 } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { WebAuthnPins } from '../../quorum-protocol/registry.js'
import { sized, takeSized } from '../../quorum-protocol/sized.js'
import {
  type AuthorizerCertificate,
  certificateMessage,
  registrationChallenge,
} from './certificate.js'
import { webAuthnLibrary } from './webauthn-library.js'

/** A passkey's registration, which proves that the person who adds it has its key. */
export interface PasskeyRegistration {
  readonly attestationObject: Uint8Array
  readonly clientDataJson: Uint8Array
}

/** COSE algorithms: ES256, EdDSA, RS256 (RFC 9053; Windows Hello supports only the last one). */
const PASSKEY_ALGORITHMS = [-7, -8, -257]

export function encodeRegistration(registration: PasskeyRegistration): Buffer {
  return concat(...sized(registration.attestationObject), ...sized(registration.clientDataJson))
}

/** @throws Refusal MALFORMED */
function decodeRegistration(bytes: Uint8Array): PasskeyRegistration {
  const reader = new ByteReader(bytes)
  const attestationObject = takeSized(reader)
  const clientDataJson = takeSized(reader)
  reader.end()
  return { attestationObject, clientDataJson }
}

/** The new passkey's data from its registration. */
interface RegisteredPasskey {
  readonly credentialId: Buffer
  /** The COSE key. */
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
  if (webauthn === null) throw new Refusal('NOT_CONFIRMED', 'passkeys are not accepted here')
  const { verifyRegistrationResponse } = await webAuthnLibrary()
  try {
    await refuseForeignAttestation(registration.attestationObject)
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        // The id is read from the attestation; this placeholder is only compared with itself.
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
 * Checks an added authorizer's certificate against the proof of its key.
 * @returns the signature counter that the authenticator starts from
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
 * Refuses attestations with certificates, because no attestation was requested: verifying them
 * would mean fetching revocation lists from addresses of the sender's choice.
 */
async function refuseForeignAttestation(attestationObject: Uint8Array): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const decoded = decodeAttestationObject(Uint8Array.from(attestationObject))
  const format = decoded.get('fmt')
  const selfSigned = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
  if (format !== 'none' && !selfSigned)
    throw new Error('the registration contains an attestation that was not requested')
}

function pointOrNull(raw: Uint8Array) {
  try {
    return publicKeyFromRaw(raw)
  } catch {
    return null
  }
}
