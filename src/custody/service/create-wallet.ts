import { randomBytes } from 'node:crypto'
import type { ShareStore, WalletRecord } from '../domain-keys/share-store.js'
import { EVIDENCE_KIND, type EvidenceLog } from '../evidence/evidence-log.js'
import { encodeWalletEvidence } from '../evidence/evidence-records.js'
import { expectBytes, expectList, sameBytes } from '../protocol/bytes.js'
import { isSignedBy, pointOf, randomScalar } from '../protocol/curve.js'
import {
  certificateMessage,
  checkShareProof,
  commitmentOf,
  decodeCertificate,
  encodeCertificate,
  type KeygenTerms,
  kindByte,
  proveShare,
  selfTestDigest,
  selfTestRequest,
  transcriptOf,
  type WalletKind,
  walletPoint,
} from '../protocol/keygen.js'
import { type P256Signer, verifyP256 } from '../protocol/p256.js'
import { Refusal } from '../protocol/refusal.js'
import type { Registry } from '../protocol/registry.js'
import type { QuorumLink } from './quorum-link.js'

export interface CreateWalletContext {
  readonly link: QuorumLink
  readonly shares: ShareStore
  readonly signer: P256Signer
  readonly registry: Registry
  readonly evidence: EvidenceLog
}

export interface NewWallet {
  readonly walletId: Uint8Array
  readonly kind: WalletKind
  /** 32 bytes. */
  readonly ownerHash: Uint8Array
}

/**
 * The service's side of key generation. The address exists for others only after both sides have
 * two durable copies, the self-test has passed and both have signed the certificate.
 * @returns the active record; the one that is there already when the wallet has its key
 * @throws Refusal or Unanswered
 */
export async function createWalletKey(
  wanted: NewWallet,
  context: CreateWalletContext,
): Promise<WalletRecord> {
  const present = context.shares.get(wanted.walletId)
  if (present !== null && present.proofs !== null) return requireSame(present, wanted)
  // A crash after the user side had finished: its certificate fits the share that waits here.
  const finished = present === null ? null : await finishedElsewhere(present, context)
  if (finished !== null) return requireSame(finished, wanted)
  return generate(wanted, context)
}

async function generate(wanted: NewWallet, context: CreateWalletContext): Promise<WalletRecord> {
  const { link, shares, signer } = context
  const terms: KeygenTerms = { ...wanted, sessionId: randomBytes(16), epoch: 1 }
  const share = randomScalar()
  try {
    const reveal = { point: pointOf(share), nonce: randomBytes(32) }
    const own = { ...reveal, commitment: commitmentOf('service', reveal, terms.sessionId) }
    const [userCommitment] = await call(link, 'keygen-commit', [
      terms.sessionId,
      terms.walletId,
      kindByte(terms.kind),
      terms.ownerHash,
      own.commitment,
    ])
    const commitment = expectBytes(userCommitment, 32)
    const [userPoint, userNonce] = await call(link, 'keygen-reveal', [
      terms.sessionId,
      own.point,
      own.nonce,
    ])
    const user = { point: expectBytes(userPoint, 33), nonce: expectBytes(userNonce, 32) }
    if (!sameBytes(commitmentOf('user', user, terms.sessionId), commitment)) {
      throw new Refusal('UNAUTHENTIC', 'reveal does not match its commitment')
    }
    const transcript = transcriptOf(terms, own, { ...user, commitment })
    const certificate = encodeCertificate({
      ...terms,
      servicePoint: own.point,
      userPoint: user.point,
      transcript,
    })
    shares.putPending(certificate, share)
    const [userProof, userRequest, userShare, boot] = await call(link, 'keygen-prove', [
      terms.sessionId,
      proveShare('service', transcript, share),
    ])
    checkShareProof('user', transcript, user.point, expectBytes(userProof, 65))
    const selfTest = await selfTestAtQuorum(certificate, share, context, {
      request: expectBytes(userRequest, 64),
      share: expectBytes(userShare),
      boot: expectBytes(boot, 16),
    })
    const serviceSignature = await signer.sign(certificateMessage(certificate))
    const [userSignature] = await call(link, 'keygen-certify', [
      terms.walletId,
      certificate,
      serviceSignature,
      selfTest,
    ])
    return await activate(certificate, [serviceSignature, userSignature, selfTest], context)
  } finally {
    share.fill(0)
  }
}

async function selfTestAtQuorum(
  certificate: Buffer,
  share: Uint8Array,
  { link, signer }: CreateWalletContext,
  user: { request: Uint8Array; share: Uint8Array; boot: Uint8Array },
): Promise<Uint8Array> {
  const sealer = link.session?.sealer
  if (sealer === undefined || !sameBytes(sealer.boot, user.boot)) {
    throw new Refusal('NO_SESSION', 'quorum signer restarted')
  }
  const digest = selfTestDigest(certificate)
  const { epoch } = decodeCertificate(certificate)
  const sealed = sealer.seal(share, { id: digest, epoch, boot: sealer.boot })
  const request = await signer.sign(selfTestRequest(certificate, sealer.boot))
  const signed = await link.quorum.call('self-test', [
    certificate,
    request,
    user.request,
    user.share,
    sealed,
  ])
  return expectBytes(signed, 65)
}

async function finishedElsewhere(
  pending: WalletRecord,
  context: CreateWalletContext,
): Promise<WalletRecord | null> {
  const answer = await context.link.userSide.call('keygen-status', [pending.certificate.walletId])
  if (answer === null) return null
  const [certificate, ...proofs] = expectList(answer, 4)
  const encoded = expectBytes(certificate)
  if (!sameBytes(encoded, pending.encodedCertificate)) {
    throw new Refusal('CONFLICT', 'the user side holds another key for this wallet')
  }
  return activate(encoded, proofs, context)
}

/** Checks everything once more before the address can leave: here is the last chance. */
async function activate(
  encoded: Uint8Array,
  proofs: readonly unknown[],
  { shares, registry, evidence }: CreateWalletContext,
): Promise<WalletRecord> {
  const serviceSignature = expectBytes(proofs[0], 64)
  const userSignature = expectBytes(proofs[1], 64)
  const selfTest = expectBytes(proofs[2], 65)
  const certificate = decodeCertificate(encoded)
  if (!isSignedBy(walletPoint(certificate), selfTestDigest(encoded), selfTest)) {
    throw new Refusal('UNAUTHENTIC', 'self-test')
  }
  const message = certificateMessage(encoded)
  const approvers = registry.keysOf('approvers', Date.now())
  if (!approvers.some((key) => verifyP256(key, message, userSignature))) {
    throw new Refusal('UNAUTHENTIC', 'certificate')
  }
  const body = encodeWalletEvidence({
    certificate: encoded,
    serviceSignature,
    userSignature,
    selfTest,
  })
  await evidence.append({ timeMs: Date.now(), kind: EVIDENCE_KIND.wallet, body })
  shares.activate(certificate.walletId, {
    serviceSignature: Buffer.from(serviceSignature),
    userSignature: Buffer.from(userSignature),
    selfTest: Buffer.from(selfTest),
  })
  const record = shares.get(certificate.walletId)
  if (record === null) throw new Error('share store lost a record')
  return record
}

function requireSame(record: WalletRecord, wanted: NewWallet): WalletRecord {
  const { kind, ownerHash } = record.certificate
  if (kind !== wanted.kind || !sameBytes(ownerHash, wanted.ownerHash)) {
    throw new Refusal('CONFLICT', 'the wallet belongs to somebody else')
  }
  return record
}

async function call(
  link: QuorumLink,
  method: string,
  parameters: readonly unknown[],
): Promise<readonly unknown[]> {
  return expectList(await link.userSide.call(method, parameters), 8)
}
