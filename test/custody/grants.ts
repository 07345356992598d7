import { randomBytes } from 'node:crypto'
import { authorizerIdOfName } from '../../src/custody/authorizers/authorizer.js'
import {
  encodeGrantStatement,
  grantChallenge,
} from '../../src/custody/authorizers/grant-statement.js'
import { encodeProof } from '../../src/custody/authorizers/proof.js'
import { canonicalGrant, grantedOf } from '../../src/domain/grant-terms.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { FaultError } from '../../src/errors/fault.js'
import { GRANTS, type GrantRequest } from '../../src/quorum-protocol/methods/grants.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { grantRequest } from '../../src/service-custody/grant-request.js'
import type { Assertion } from '../support/software-authenticator.js'
import { newKeyId, type Quorum } from './harness.js'

/** Grants as the service asks for them, and as the wire has them. */
export function newGrant(
  quorum: Quorum,
  walletId: SubWalletId,
  change: Partial<GrantUpdate> = {},
): GrantUpdate {
  return {
    ...grantedOf(INITIAL_POLICY),
    keyId: newKeyId(),
    rotatedFrom: null,
    walletId,
    userId: quorum.userId,
    permission: 'trade',
    allowedChains: [8453],
    proofKey: randomBytes(32),
    expiresAt: null,
    revoked: false,
    consoleToken: quorum.consoleToken,
    dailyLimitMicros: 100_000_000n,
    monthlyLimitMicros: 1_000_000_000n,
    effect: 'enlarges',
    authorization: null,
    ...change,
  }
}

/** What the service is asked to have confirmed. */
export interface Asked {
  readonly statement: Buffer
  /** Base64url. */
  readonly challenge: string
  readonly version: number
  readonly confirmBeforeMs: number
}

/** @throws Error unless the service refuses for want of a confirmation */
export async function askedOf(quorum: Quorum, grant: GrantUpdate): Promise<Asked> {
  const { code, details } = await faultOf(quorum.coSigner.putGrant(grant))
  if (code !== 'AUTHORIZATION_REQUIRED') throw new Error(`not asked: ${code}`)
  return {
    statement: Buffer.from(String(details.grant), 'base64url'),
    challenge: String(details.challenge),
    version: Number(details.grant_version),
    confirmBeforeMs: Date.parse(String(details.confirm_before)),
  }
}

/** The same grant again, with a proof. */
export function answered(grant: GrantUpdate, asked: Asked, proof: Uint8Array | null): GrantUpdate {
  const { version, confirmBeforeMs } = asked
  return { ...grant, authorization: { version, confirmBeforeMs, proof } }
}

export async function faultOf(
  call: Promise<unknown>,
): Promise<{ code: string; details: Readonly<Record<string, unknown>> }> {
  try {
    await call
  } catch (error) {
    if (error instanceof FaultError) return error.fault
    throw error
  }
  return { code: 'none', details: {} }
}

export function passkeyProof(assertion: Assertion, authorizerId: string): Buffer {
  return encodeProof({
    kind: 'passkey',
    authorizerId: authorizerIdOfName(authorizerId) ?? Buffer.alloc(16),
    clientDataJson: Buffer.from(assertion.client_data_json, 'base64url'),
    authenticatorData: Buffer.from(assertion.authenticator_data, 'base64url'),
    signature: Buffer.from(assertion.signature, 'base64url'),
  })
}

/** @param signature base64url */
export function keyProof(authorizerId: string, signature: string): Buffer {
  return encodeProof({
    kind: 'p256',
    authorizerId: authorizerIdOfName(authorizerId) ?? Buffer.alloc(16),
    signature: Buffer.from(signature, 'base64url'),
  })
}

/** `grant-put` as a hostile service sends it to the user side, past the service's own checks. */
export function grantPut(
  grant: GrantUpdate,
  confirmBeforeMs: number,
  proof: Uint8Array | null,
  basedOn?: number,
): unknown[] {
  const authorization = { version: 0, confirmBeforeMs, proof: null }
  const request = grantRequest({ ...grant, authorization }, { basedOn: 0, proof })
  return [...GRANT_PUT.encode({ ...request, basedOn: basedOn ?? null })]
}

/** The request as the user side reads it. */
export function grantAsked(...asked: Parameters<typeof grantPut>): GrantRequest {
  return GRANT_PUT.decode(grantPut(...asked))
}

const GRANT_PUT = GRANTS['grant-put'].parameters

/** The statement of a grant, and its challenge in base64url. */
export function statementOf(grant: GrantUpdate, version: number, confirmBeforeMs: number) {
  const statement = encodeGrantStatement({
    ...canonicalGrant(grant),
    keyId: ulidBytes(grant.keyId),
    grantId: ulidBytes(grant.keyId),
    version,
    walletId: ulidBytes(grant.walletId),
    ownerHash: sha256(Buffer.from(grant.userId)),
    expiresAtMs: grant.expiresAt,
    revoked: grant.revoked,
    rotatedFrom: grant.rotatedFrom === null ? null : ulidBytes(grant.rotatedFrom),
    parentId: grant.parentLineageId === undefined ? null : ulidBytes(grant.parentLineageId),
    proofKeyDigest: grant.proofKey === null ? null : sha256(grant.proofKey),
    confirmBeforeMs,
  })
  return { statement, challenge: grantChallenge(statement).toString('base64url') }
}
