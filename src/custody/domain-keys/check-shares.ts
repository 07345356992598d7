import { sameBytes } from '../protocol/bytes.js'
import { pointOf } from '../protocol/curve.js'
import type { ShareStore } from './share-store.js'

/**
 * Opens every share and compares its point with the certificate: a backup that was sealed under
 * another wrapping key, or mixed up between epochs, shows here and not at the next signature.
 * @returns number of wallets
 * @throws Error that names the first wallet whose share does not fit
 */
export function checkShares(domain: 'service' | 'user', shares: ShareStore): number {
  let checked = 0
  for (const walletId of shares.walletIds()) {
    const record = shares.get(walletId)
    if (record === null) continue
    const { servicePoint, userPoint } = record.certificate
    const share = shares.openShare(record)
    try {
      if (!sameBytes(pointOf(share), domain === 'service' ? servicePoint : userPoint)) {
        const name = Buffer.from(walletId).toString('hex')
        throw new Error(`the share of wallet ${name} does not fit its certificate`)
      }
    } finally {
      share.fill(0)
    }
    checked++
  }
  return checked
}
