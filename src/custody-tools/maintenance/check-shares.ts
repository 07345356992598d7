import type { ShareStore, WalletRecord } from '../../custody/domain-keys/share-store.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { isSignedBy, pointOf } from '../../quorum-protocol/curve.js'
import { selfTestDigest } from '../../quorum-protocol/keygen.js'

/**
 * Opens every share and holds it against its certificate: what was sealed under another wrapping
 * key, damaged, or mixed up between wallets or epochs shows here and not at the next signature.
 * @param path of the store, for messages
 * @returns number of wallets
 * @throws Error that names the store, the first wallet that does not fit, and why
 */
export function checkShares(domain: 'service' | 'user', path: string, shares: ShareStore): number {
  let checked = 0
  for (const walletId of shares.walletIds()) {
    const name = Buffer.from(walletId).toString('hex')
    try {
      const record = shares.get(walletId)
      if (record === null) continue
      if (!sameBytes(record.certificate.walletId, walletId)) {
        throw new Error('its certificate is of another wallet')
      }
      checkProofs(record)
      checkShare(domain, record, shares)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${path}: wallet ${name}: ${reason}`, { cause })
    }
    checked++
  }
  return checked
}

function checkShare(domain: 'service' | 'user', record: WalletRecord, shares: ShareStore): void {
  const { servicePoint, userPoint } = record.certificate
  const share = shares.openShare(record)
  try {
    if (!sameBytes(pointOf(share), domain === 'service' ? servicePoint : userPoint)) {
      throw new Error('the share does not fit its certificate')
    }
  } finally {
    share.fill(0)
  }
}

/** The wallet's own key signed the certificate once, with both shares. */
function checkProofs({ proofs, point, encodedCertificate }: WalletRecord): void {
  if (proofs === null) return
  if (!isSignedBy(point, selfTestDigest(encodedCertificate), proofs.selfTest)) {
    throw new Error('the self-test is not by its key')
  }
}
