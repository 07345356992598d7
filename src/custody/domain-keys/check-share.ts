import { sameBytes } from '../../quorum-protocol/bytes.js'
import { isSignedBy, pointOf } from '../../quorum-protocol/curve.js'
import { selfTestDigest } from '../../quorum-protocol/keygen.js'
import type { SealedShare, WalletRecord } from './wallet-record.js'

/**
 * Opens a wallet's share and checks it against its certificate.
 * @param openShare opens a share of the store; the result is wiped here
 * @throws Error that says why it does not fit
 */
export function checkShare(
  domain: 'service' | 'user',
  walletId: Uint8Array,
  record: WalletRecord,
  openShare: (record: SealedShare) => Buffer,
): void {
  if (!sameBytes(record.certificate.walletId, walletId)) {
    throw new Error('its certificate is of another wallet')
  }
  checkProofs(record)
  requireFit(domain, record, openShare)
  if (record.next !== null) requireFit(domain, record.next, openShare)
}

function requireFit(
  domain: 'service' | 'user',
  record: SealedShare,
  openShare: (record: SealedShare) => Buffer,
): void {
  const { servicePoint, userPoint } = record.certificate
  const share = openShare(record)
  try {
    if (!sameBytes(pointOf(share), domain === 'service' ? servicePoint : userPoint)) {
      throw new Error('the share does not fit its certificate')
    }
  } finally {
    share.fill(0)
  }
}

/** The wallet's own key signed the certificate when it was made, with both shares. */
function checkProofs({ proofs, point, encodedCertificate }: WalletRecord): void {
  if (proofs === null) return
  if (!isSignedBy(point, selfTestDigest(encodedCertificate), proofs.selfTest)) {
    throw new Error('the self-test is not by its key')
  }
}
