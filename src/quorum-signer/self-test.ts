import { decodeCertificate, selfTestDigest, selfTestRequest } from '../quorum-protocol/keygen.js'
import type { ParametersOf } from '../quorum-protocol/methods/method.js'
import type { QUORUM_SIGNER } from '../quorum-protocol/methods/quorum-signer.js'
import { verifyP256 } from '../quorum-protocol/p256.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { Registry } from '../quorum-protocol/registry.js'
import { withShares } from './join-shares.js'
import type { QuorumSessions } from './sessions.js'

/**
 * Makes the first signature of a new key, which proves that the stored shares make it before its
 * address is published. The digest is derived here from the certificate, so nothing else can be
 * signed this way.
 * @returns 65 bytes r ‖ s ‖ yParity
 */
export function signSelfTest(
  fields: ParametersOf<(typeof QUORUM_SIGNER)['self-test']>,
  sessions: QuorumSessions,
  registry: Registry,
  nowMs: number,
): Buffer {
  const { certificate, serviceSignature, userSignature } = fields
  // Throws when the bytes are not a certificate.
  decodeCertificate(certificate)
  const request = selfTestRequest(certificate, sessions.boot.boot)
  const coSigners = registry.keysOf('co_signers', nowMs)
  if (!coSigners.some((key) => verifyP256(key, request, serviceSignature))) {
    throw new Refusal('UNAUTHENTIC', 'co-signature of the self-test')
  }
  const approvers = registry.keysOf('approvers', nowMs)
  if (!approvers.some((key) => verifyP256(key, request, userSignature))) {
    throw new Refusal('UNAUTHENTIC', 'approval of the self-test')
  }
  const digest = selfTestDigest(certificate)
  const sealed = { user: fields.userShare, service: fields.serviceShare, ids: [digest] }
  return withShares(sealed, sessions, (signWith) => signWith(0, digest))
}
