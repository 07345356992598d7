import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/**
 * A WebAuthn authenticator in software, together with its client. It replaces a hardware one, makes
 * real registrations and assertions (ES256, attestation `none`), and gives false data where a test
 * asks for it.
 */
export interface SoftwareAuthenticator {
  /** Base64url. */
  readonly credentialId: string
  /** @param challenge base64url */
  register(challenge: string, lies?: Lies): Registration
  assert(challenge: string, lies?: Lies): Assertion
}

export interface Lies {
  readonly origin?: string
  readonly rpId?: string
  readonly userVerified?: boolean
  readonly signCount?: number
  readonly type?: string
}

/** Uses wire names; the values are Base64url. */
interface Registration {
  readonly attestation_object: string
  readonly client_data_json: string
}

export interface Assertion {
  readonly client_data_json: string
  readonly authenticator_data: string
  readonly signature: string
}

const FLAG = { userPresent: 1, userVerified: 4, attested: 64 } as const

export function createSoftwareAuthenticator(home: {
  readonly rpId: string
  readonly origin: string
}): SoftwareAuthenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(32)
  let signCount = 0

  function clientData(type: string, challenge: string, lies: Lies): Buffer {
    const origin = lies.origin ?? home.origin
    return Buffer.from(
      JSON.stringify({ type: lies.type ?? type, challenge, origin, crossOrigin: false }),
    )
  }

  function authenticatorData(lies: Lies, attested: Buffer): Buffer {
    const rpIdHash = createHash('sha256')
      .update(lies.rpId ?? home.rpId)
      .digest()
    const verified = lies.userVerified === false ? 0 : FLAG.userVerified
    const flags = FLAG.userPresent | verified | (attested.length > 0 ? FLAG.attested : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(lies.signCount ?? ++signCount)
    return Buffer.concat([rpIdHash, Buffer.of(flags), count, attested])
  }

  return {
    credentialId: credentialId.toString('base64url'),
    register(challenge, lies = {}) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const coseKey = Buffer.concat([
        // Map of 5: kty EC2, alg ES256, crv P-256, then x and y of 32 bytes each (RFC 9053).
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ])
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey])
      const authData = authenticatorData(lies, attested)
      const attestationObject = Buffer.concat([
        // Map of 3: fmt "none", attStmt {}, authData as bytes of a 16-bit length (RFC 8949).
        Buffer.from('a3', 'hex'),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from('a0', 'hex'),
        cborText('authData'),
        Buffer.of(0x59, authData.length >> 8, authData.length & 255),
        authData,
      ])
      return {
        attestation_object: attestationObject.toString('base64url'),
        client_data_json: clientData('webauthn.create', challenge, lies).toString('base64url'),
      }
    },
    assert(challenge, lies = {}) {
      const clientDataJson = clientData('webauthn.get', challenge, lies)
      const authData = authenticatorData(lies, Buffer.alloc(0))
      const clientDataHash = createHash('sha256').update(clientDataJson).digest()
      const signature = sign('sha256', Buffer.concat([authData, clientDataHash]), privateKey)
      return {
        client_data_json: clientDataJson.toString('base64url'),
        authenticator_data: authData.toString('base64url'),
        signature: signature.toString('base64url'),
      }
    },
  }
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.of(0x60 + text.length), Buffer.from(text)])
}
