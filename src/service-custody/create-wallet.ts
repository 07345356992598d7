import type { ShareStore } from '../custody/domain-keys/share-store.js'
import type { WalletRecord } from '../custody/domain-keys/wallet-record.js'
import { sameBytes } from '../quorum-protocol/bytes.js'
import { pointOf, randomScalar } from '../quorum-protocol/curve.js'
import {
  certificateMessage,
  checkShareProof,
  commitmentOf,
  decodeCertificate,
  encodeCertificate,
  type KeygenTerms,
  proveShare,
  transcriptOf,
  type WalletKind,
} from '../quorum-protocol/keygen.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import { carryShare } from './carry-share.js'
import {
  acceptProofs,
  type ProofContext,
  type ReceivedProofs,
  selfTestAtQuorum,
} from './wallet-proofs.js'

interface CreateWalletContext extends ProofContext {
  readonly shares: ShareStore
}

interface NewWallet {
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
    const { commitment } = await askUserSide(link.userSide, 'keygen-commit', {
      sessionId: terms.sessionId,
      walletId: terms.walletId,
      kind: terms.kind,
      ownerHash: terms.ownerHash,
      commitment: own.commitment,
    })
    const user = await askUserSide(link.userSide, 'keygen-reveal', {
      sessionId: terms.sessionId,
      ...reveal,
    })
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
    const { proof, ...half } = await askUserSide(link.userSide, 'keygen-prove', {
      sessionId: terms.sessionId,
      proof: proveShare('service', transcript, share),
    })
    checkShareProof('user', transcript, user.point, proof)
    const selfTest = await selfTestAtQuorum(certificate, share, context, half)
    const serviceSignature = await signer.sign(certificateMessage(certificate))
    const { userSignature } = await askUserSide(link.userSide, 'keygen-certify', {
      walletId: terms.walletId,
      certificate,
      serviceSignature,
      selfTest,
    })
    return await activate(certificate, { serviceSignature, userSignature, selfTest }, context)
  } finally {
    share.fill(0)
  }
}

async function finishedByUserSide(
  pending: WalletRecord,
  context: CreateWalletContext,
): Promise<WalletRecord | null> {
  const { walletId } = pending.certificate
  const finished = await askUserSide(context.link.userSide, 'keygen-status', { walletId })
  if (finished === null) return null
  const { certificate, ...proofs } = finished
  if (!sameBytes(certificate, pending.encodedCertificate)) {
    throw new Refusal('CONFLICT', 'the user side holds another key for this wallet')
  }
  return activate(certificate, proofs, context)
}

async function activate(
  encoded: Uint8Array,
  proofs: ReceivedProofs,
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
