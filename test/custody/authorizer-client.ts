import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { certificateMessage } from '../../src/custody/authorizers/certificate.js'
import { type P256Signer, p256SignerOf } from '../../src/quorum-protocol/p256.js'
import {
  type Assertion,
  createSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '../support/software-authenticator.js'

/** The authorizer routes of a running identity provider, as a user's browser or script has them. */
export interface AuthorizerClient {
  call(path: string, body?: object, token?: string): Promise<AuthorizerReply>
  /** Registers a passkey; an older authorizer approves it where one has to. */
  addPasskey(approver?: Prover): Promise<Passkey>
  addKey(approver?: Prover): Promise<KeyAuthorizer>
}

interface AuthorizerReply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** Wire form of a proof over a challenge (base64url); the message is what has that hash. */
type Prover = (challenge: string, message: Uint8Array) => Promise<object> | object

export interface Passkey {
  readonly authorizerId: string
  readonly authenticator: SoftwareAuthenticator
  readonly prove: (challenge: string, message?: Uint8Array) => Assertion & { authorizer_id: string }
}

export interface KeyAuthorizer {
  readonly authorizerId: string
  readonly signer: P256Signer
  readonly prove: (
    challenge: string,
    message: Uint8Array,
  ) => Promise<{ authorizer_id: string; signature: string }>
}

export function issuerOf(home: string): string {
  const text = readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8')
  return (JSON.parse(text) as { issuer: string }).issuer
}

/** @param webauthn where passkeys of that registry live */
export async function connectAuthorizers(
  home: string,
  user: { readonly email: string; readonly password: string },
  webauthn: { readonly rpId: string; readonly origin: string },
): Promise<AuthorizerClient> {
  const issuer = issuerOf(home)
  const ownToken = await mintConsoleToken({ issuer, ...user, purpose: 'authorizers' })

  async function call(path: string, body?: object, token = ownToken): Promise<AuthorizerReply> {
    const response = await fetch(`${issuer}/authorizers/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: (await response.json()) as AuthorizerReply['json'] }
  }

  async function done(
    path: string,
    body: object,
    approver: Prover | undefined,
  ): Promise<AuthorizerReply['json']> {
    const { status, json } = await call(path, body)
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(json)}`)
    if (json.status !== 'approval_required' || approver === undefined) return json
    const message = certificateMessage(Buffer.from(String(json.certificate), 'base64url'))
    const proof = await approver(String(json.challenge), message)
    return done('approve', { ceremony_id: json.ceremony_id, proof }, undefined)
  }

  function newestOf(json: AuthorizerReply['json']): string {
    const list = json.authorizers as readonly { authorizer_id: string }[]
    return list.at(-1)?.authorizer_id ?? ''
  }

  return {
    call,
    async addPasskey(approver) {
      const authenticator = createSoftwareAuthenticator(webauthn)
      const { json } = await call('begin', { kind: 'passkey', label: 'a passkey' })
      const registration = authenticator.register(String(json.challenge))
      const body = { ceremony_id: json.ceremony_id, ...registration }
      const authorizerId = newestOf(await done('finish', body, approver))
      const prove = (challenge: string) => ({
        authorizer_id: authorizerId,
        ...authenticator.assert(challenge),
      })
      return { authorizerId, authenticator, prove }
    },
    async addKey(approver) {
      const signer = p256SignerOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
      const public_key = signer.publicKey.toString('base64url')
      const { json } = await call('begin', { kind: 'p256', label: 'a script', public_key })
      const certificate = Buffer.from(String(json.certificate), 'base64url')
      const signature = (await signer.sign(certificateMessage(certificate))).toString('base64url')
      const body = { ceremony_id: json.ceremony_id, signature }
      const authorizerId = newestOf(await done('finish', body, approver))
      const prove = async (_challenge: string, message: Uint8Array) => ({
        authorizer_id: authorizerId,
        signature: (await signer.sign(message)).toString('base64url'),
      })
      return { authorizerId, signer, prove }
    },
  }
}
