import { expectBytes } from '../quorum-protocol/bytes.js'
import { decodeCertificate, selfTestDigest, selfTestRequest } from '../quorum-protocol/keygen.js'
import { verifyP256 } from '../quorum-protocol/p256.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { Registry } from '../quorum-protocol/registry.js'
import { withShares } from './join-shares.js'
import type { QuorumSessions } from './sessions.js'

/**
 * Makes the first signature of a new key, which proves that the stored shares make it before its
 * address is published. The digest is derived here from the certificate, so nothing else can be
 * signed this way.
 * @param parameters `[certificate, serviceSignature, userSignature, userShare, serviceShare]`
 * @returns 65 bytes r ‖ s ‖ yParity
 */
export function signSelfTest(
  parameters: readonly unknown[],
  sessions: QuorumSessions,
  registry: Registry,
  nowMs: number,
): Buffer {
  const encoded = expectBytes(parameters[0])
  // Throws when the bytes are not a certificate.
  decodeCertificate(encoded)
  const request = selfTestRequest(encoded, sessions.boot.boot)
  const service = expectBytes(parameters[1], 64)
  const user = expectBytes(parameters[2], 64)
  if (!registry.keysOf('co_signers', nowMs).some((key) => verifyP256(key, request, service))) {
    throw new Refusal('UNAUTHENTIC', 'co-signature of the self-test')
  }
  if (!registry.keysOf('approvers', nowMs).some((key) => verifyP256(key, request, user))) {
    throw new Refusal('UNAUTHENTIC', 'approval of the self-test')
  }
  const digest = selfTestDigest(encoded)
  const sealed = {
    user: expectBytes(parameters[3]),
    service: expectBytes(parameters[4]),
    ids: [digest],
  }
  return withShares(sealed, sessions, (signWith) => signWith(0, digest))
}
