import type { Timers } from '../clock/timers.js'
import type { WalletProofs } from '../custody/domain-keys/share-copies.js'
import type { EvidenceLog } from '../custody/evidence/evidence-log.js'
import { encodeWalletEvidence } from '../custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../custody/evidence/stored-evidence.js'
import { sameBytes } from '../quorum-protocol/bytes.js'
import { isSignedBy } from '../quorum-protocol/curve.js'
import {
  certificateMessage,
  decodeCertificate,
  selfTestDigest,
  selfTestRequest,
  walletPoint,
} from '../quorum-protocol/keygen.js'
import { askQuorumSigner } from '../quorum-protocol/methods/ask.js'
import { type P256Signer, verifyP256 } from '../quorum-protocol/p256.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { Registry } from '../quorum-protocol/registry.js'
import type { QuorumLink } from './quorum-link.js'

/**
 * The proof that a certificate's shares make its key, and how the service fetches and checks it.
 */
export interface ProofContext {
  readonly link: QuorumLink
  readonly signer: P256Signer
  readonly registry: Registry
  readonly evidence: EvidenceLog
  readonly timers: Pick<Timers, 'now' | 'random'>
}

/** The identity provider's half of a self-test. */
interface UserHalf {
  /** 64 bytes: the identity provider's approval. */
  readonly request: Uint8Array
  /** The identity provider's share, sealed for this self-test. */
  readonly share: Uint8Array
  /** 16 bytes: the quorum signer's boot that the share is sealed for. */
  readonly boot: Uint8Array
}

export interface ReceivedProofs {
  /** 64 bytes each. */
  readonly serviceSignature: Uint8Array
  readonly userSignature: Uint8Array
  /** 65 bytes by the wallet's key. */
  readonly selfTest: Uint8Array
}

/**
 * Has the quorum sign a test message.
 * @returns 65 bytes by the wallet's key
 * @throws Refusal or Unanswered
 */
export async function selfTestAtQuorum(
  certificate: Buffer,
  share: Uint8Array,
  { link, signer }: ProofContext,
  user: UserHalf,
): Promise<Uint8Array> {
  const sealer = link.session?.sealer
  if (sealer === undefined || !sameBytes(sealer.boot, user.boot)) {
    throw new Refusal('NO_SESSION', 'quorum signer restarted')
  }
  const digest = selfTestDigest(certificate)
  const sealed = sealer.seal(share, [digest])
  const request = await signer.sign(selfTestRequest(certificate, sealer.boot))
  return askQuorumSigner(link.quorum, 'self-test', {
    certificate,
    serviceSignature: request,
    userSignature: user.request,
    userShare: user.share,
    serviceShare: sealed,
  })
}

/**
 * Checks everything a last time before a certificate counts. When this resolves, what passed is in
 * the evidence.
 * @param proofs as another domain sent them
 */
export async function acceptProofs(
  encoded: Uint8Array,
  { serviceSignature, userSignature, selfTest }: ReceivedProofs,
  { registry, evidence, timers }: ProofContext,
): Promise<WalletProofs> {
  const certificate = decodeCertificate(encoded)
  if (!isSignedBy(walletPoint(certificate), selfTestDigest(encoded), selfTest)) {
    throw new Refusal('UNAUTHENTIC', 'self-test')
  }
  const message = certificateMessage(encoded)
  const approvers = registry.keysOf('approvers', timers.now())
  if (!approvers.some((key) => verifyP256(key, message, userSignature))) {
    throw new Refusal('UNAUTHENTIC', 'certificate')
  }
  const body = encodeWalletEvidence({
    certificate: encoded,
    serviceSignature,
    userSignature,
    selfTest,
  })
  await evidence.append({ timeMs: timers.now(), kind: EVIDENCE_KIND.wallet, body })
  return {
    serviceSignature: Buffer.from(serviceSignature),
    userSignature: Buffer.from(userSignature),
    selfTest: Buffer.from(selfTest),
  }
}
