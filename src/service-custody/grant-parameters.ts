import { GRANT_PUT_PARTS, type GrantPutPart } from '../custody/authorizers/grant-put.js'
import { plainPolicy } from '../custody/authorizers/policy-codecs.js'
import { ulidBytes } from '../domain/ids.js'
import type { GrantUpdate } from './co-signer.js'
import type { GrantBasis } from './grant-authority.js'

/** Encodes a change of a grant for the identity provider. */
export function grantParameters(
  update: GrantUpdate,
  { basedOn, proof, makerProof }: GrantBasis,
): unknown[] {
  const parts: Record<GrantPutPart, unknown> = {
    ...plainPolicy(update),
    keyId: ulidBytes(update.keyId),
    walletId: ulidBytes(update.walletId),
    rotatedFrom: update.rotatedFrom === null ? null : ulidBytes(update.rotatedFrom),
    userId: update.userId,
    proofKey: update.proofKey,
    expiresAtMs: update.expiresAt,
    revoked: update.revoked,
    consoleToken: update.consoleToken ?? '',
    confirmation: proof,
    confirmBeforeMs: update.authorization?.confirmBeforeMs ?? 0,
    basedOn,
    parentId: update.parentLineageId === undefined ? null : ulidBytes(update.parentLineageId),
    madeBy: update.madeBy === undefined ? null : ulidBytes(update.madeBy.keyId),
    makerProof: makerProof ?? null,
  }
  return GRANT_PUT_PARTS.map((part) => parts[part])
}
