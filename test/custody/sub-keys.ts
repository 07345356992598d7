import { randomBytes } from 'node:crypto'
import { subKeyProof } from '../../src/custody/authorizers/sub-key-proof.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { GRANTS } from '../../src/quorum-protocol/methods/grants.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { grantRequest } from '../../src/service-custody/grant-request.js'
import { statementOf } from './grants.js'
import { newKeyId, type Quorum, type ReadyWallet } from './harness.js'

/** Keys that a key makes for others, as the service has them made. */

export const HOUR_MS = 3_600_000

/** A key below another: what it is told apart by, and what it proves itself with. */
export interface SubKey extends ReadyWallet {
  readonly lineageId: LineageId
}

/** @param terms beside those that a maker of `MAKER` covers */
export function subKeyOf(
  quorum: Quorum,
  maker: ReadyWallet & { readonly lineageId?: LineageId },
  terms: Partial<GrantUpdate> = {},
): { readonly key: SubKey; readonly update: GrantUpdate } {
  const keyId = newKeyId()
  const proofKey = randomBytes(32)
  const update: GrantUpdate = {
    ...grantedOf(INITIAL_POLICY),
    ...{ keyId, rotatedFrom: null, walletId: maker.walletId, userId: quorum.userId },
    ...{ permission: 'trade', allowedChains: [8453], proofKey, revoked: false },
    ...{ dailyLimitMicros: 1_000_000n, monthlyLimitMicros: 2_000_000n },
    ...{ expiresAt: Date.now() + HOUR_MS, consoleToken: null },
    parentLineageId: maker.lineageId ?? lineageOf(maker.keyId),
    madeBy: { keyId: maker.keyId, proofKey: maker.proofKey },
    ...{ effect: 'narrows', authorization: null },
    ...terms,
  }
  return { key: { ...maker, keyId, proofKey, lineageId: lineageOf(keyId) }, update }
}

export function lineageOf(keyId: KeyId): LineageId {
  return keyId as string as LineageId
}

/** As a hostile service sends it, with whatever proof; its own checks are out of the way. */
export function subKeyPut(update: GrantUpdate, proof?: Uint8Array | null): unknown[] {
  const { madeBy } = update
  const own =
    madeBy === undefined ? null : subKeyProof(madeBy.proofKey, statementOf(update, 1, 0).statement)
  const makerProof = proof === undefined ? own : proof
  const request = grantRequest(update, {
    ...{ basedOn: 0, proof: null },
    ...(makerProof === null ? {} : { makerProof }),
  })
  return [...GRANTS['grant-put'].parameters.encode(request)]
}
