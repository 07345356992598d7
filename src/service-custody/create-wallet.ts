import type { ShareStore } from '../custody/domain-keys/share-store.js'
import type { WalletRecord } from '../custody/domain-keys/wallet-record.js'
import { expectBytes, expectList, sameBytes } from '../quorum-protocol/bytes.js'
import { pointOf, randomScalar } from '../quorum-protocol/curve.js'
import {
  certificateMessage,
  checkShareProof,
  commitmentOf,
  decodeCertificate,
  encodeCertificate,
  type KeygenTerms,
  kindByte,
  proveShare,
  transcriptOf,
  type WalletKind,
} from '../quorum-protocol/keygen.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import { carryShare } from './carry-share.js'
import type { QuorumLink } from './quorum-link.js'
import { acceptProofs, type ProofContext, selfTestAtQuorum } from './wallet-proofs.js'

export interface CreateWalletContext extends ProofContext {
  readonly shares: ShareStore
}

export interface NewWallet {
  readonly walletId: Uint8Array
  readonly kind: WalletKind
  /** 32 bytes. */
  readonly ownerHash: Uint8Array
}

/**
 * The service's side of key generation. The address becomes visible only after both domains have
 * two durable copies, the self-test has passed and both have signed the certificate.
 * @returns the active record; the existing one when the wallet already has its key
 * @throws Refusal or Unanswered
 */
export async function createWalletKey(
  wanted: NewWallet,
  context: CreateWalletContext,
): Promise<WalletRecord> {
  const present = context.shares.get(wanted.walletId)
  if (present !== null && present.proofs !== null) {
    await carryShare(wanted.walletId, context)
    return requireSame(present, wanted)
  }
  // After a crash, the identity provider may have finished: then its certificate fits the share
  // kept here.
  const finished = present === null ? null : await finishedByUserSide(present, context)
  if (finished !== null) return requireSame(finished, wanted)
  return generate(wanted, context)
}

async function generate(wanted: NewWallet, context: CreateWalletContext): Promise<WalletRecord> {
  const { link, shares, signer, timers } = context
  const terms: KeygenTerms = { ...wanted, sessionId: timers.random.bytes(16), epoch: 1 }
  const share = randomScalar()
  try {
    const reveal = { point: pointOf(share), nonce: timers.random.bytes(32) }
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
    // Once the identity provider has certified the key, this wallet can have no other.
    await carryShare(terms.walletId, context)
    shares.requireWaiting(certificate)
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

async function finishedByUserSide(
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

async function activate(
  encoded: Uint8Array,
  proofs: readonly unknown[],
  context: CreateWalletContext,
): Promise<WalletRecord> {
  const { walletId } = decodeCertificate(encoded)
  context.shares.activate(encoded, await acceptProofs(encoded, proofs, context))
  await carryShare(walletId, context)
  const record = context.shares.get(walletId)
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
