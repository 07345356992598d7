import { grantedOf } from '../domain/grant-terms.js'
import { ulidBytes } from '../domain/ids.js'
import type { GrantRequest } from '../quorum-protocol/methods/grants.js'
import type { GrantUpdate } from './co-signer.js'
import type { GrantBasis } from './grant-authority.js'

/** Returns a change of a grant as the identity provider is asked for it. */
export function grantRequest(
  update: GrantUpdate,
  { basedOn, proof, makerProof }: GrantBasis,
): GrantRequest {
  return {
    ...grantedOf(update),
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
}
