import type { ShareStore } from '../custody/domain-keys/share-store.js'
import type { WalletRecord } from '../custody/domain-keys/wallet-record.js'
import { sameBytes } from '../quorum-protocol/bytes.js'
import { addInto, randomScalar } from '../quorum-protocol/curve.js'
import { certificateMessage, decodeCertificate } from '../quorum-protocol/keygen.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import {
  negateInto,
  refreshCommitment,
  refreshDelta,
  refreshedCertificate,
} from '../quorum-protocol/refresh.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import { carryShare } from './carry-share.js'
import { acceptProofs, type ProofContext, selfTestAtQuorum } from './wallet-proofs.js'

interface RefreshContext extends ProofContext {
  readonly shares: ShareStore
}

/**
 * The service's side of a refresh. Before either domain gives up its present share, both hold the
 * next epoch's share durably and the quorum signer has signed with the new pair. A crash therefore
 * leaves the old pair or the new one in use. The identity provider changes over first;
 * `finishRefresh` catches up.
 * @returns the epoch now in use
 * @throws Refusal or Unanswered
 */
export async function refreshShare(walletId: Uint8Array, context: RefreshContext): Promise<number> {
  const caughtUp = await finishRefresh(walletId, context)
  if (caughtUp !== null) return caughtUp
  const record = activeRecord(walletId, context)
  const { link, shares, signer, timers } = context
  const sessionId = timers.random.bytes(16)
  const part = randomScalar()
  const secrets = [part]
  try {
    const nonce = timers.random.bytes(32)
    const answered = await askUserSide(link.userSide, 'refresh-begin', {
      sessionId,
      walletId,
      epoch: record.certificate.epoch,
      commitment: refreshCommitment({ part, nonce }, sessionId),
    })
    const delta = refreshDelta(part, answered.part)
    const share = shares.openShare(record)
    secrets.push(delta, share)
    const { encoded } = refreshedCertificate(record.certificate, delta, sessionId)
    negateInto(delta)
    addInto(share, delta)
    shares.putNext(encoded, share)
    // Once the identity provider has changed over, the present share is useless.
    await carryShare(walletId, context)
    shares.requireWaiting(encoded)
    const half = await askUserSide(link.userSide, 'refresh-prepare', { sessionId, part, nonce })
    const selfTest = await selfTestAtQuorum(encoded, share, context, half)
    const serviceSignature = await signer.sign(certificateMessage(encoded))
    const { userSignature } = await askUserSide(link.userSide, 'refresh-certify', {
      walletId,
      certificate: encoded,
      serviceSignature,
      selfTest,
    })
    const proofs = { serviceSignature, userSignature, selfTest }
    shares.activateNext(encoded, await acceptProofs(encoded, proofs, context))
    return decodeCertificate(encoded).epoch
  } finally {
    for (const secret of secrets) secret.fill(0)
  }
}

/**
 * Changes over to the next epoch when the identity provider already has, which a crash in between
 * requires.
 * @returns the epoch now in use; null when there is nothing to finish
 * @throws Refusal CONFLICT when the two domains hold shares that do not belong together
 */
export async function finishRefresh(
  walletId: Uint8Array,
  context: RefreshContext,
): Promise<number | null> {
  const { link, shares } = context
  const theirs = await askUserSide(link.userSide, 'keygen-status', { walletId })
  const certificate = theirs?.certificate ?? null
  shares.forget(walletId)
  // Another machine may have refreshed the share, or an operator may have restored an earlier one
  // here.
  shares.adopt(walletId, certificate)
  const record = activeRecord(walletId, context)
  if (certificate !== null && sameBytes(certificate, record.encodedCertificate)) return null
  const { next } = record
  if (theirs === null || next === null || !sameBytes(theirs.certificate, next.encodedCertificate)) {
    const epoch = theirs === null ? 'none' : decodeCertificate(theirs.certificate).epoch
    throw new Refusal(
      'CONFLICT',
      `wallet ${Buffer.from(walletId).toString('hex')}: the user side is at epoch ${epoch}, this ` +
        `side at ${record.certificate.epoch}; their shares do not belong together`,
    )
  }
  shares.activateNext(theirs.certificate, await acceptProofs(theirs.certificate, theirs, context))
  return next.certificate.epoch
}

function activeRecord(walletId: Uint8Array, { shares }: RefreshContext): WalletRecord {
  const record = shares.get(walletId)
  if (record === null || record.proofs === null) {
    throw new Refusal('UNKNOWN_WALLET', 'no key to refresh')
  }
  return record
}
