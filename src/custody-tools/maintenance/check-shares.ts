import { checkShare } from '../../custody/domain-keys/check-share.js'
import type { ShareStore } from '../../custody/domain-keys/share-store.js'

/**
 * Opens every share and checks it against its certificate: a share that is damaged, sealed under
 * another wrapping key, or mixed up between wallets or epochs is found here and not at the next
 * signature.
 * @param path the store's path, for messages
 * @returns number of wallets
 * @throws Error that names the store, the first wallet that does not fit, and why
 */
export function checkShares(domain: 'service' | 'user', path: string, shares: ShareStore): number {
  let checked = 0
  for (const walletId of shares.walletIds()) {
    try {
      const record = shares.get(walletId)
      if (record === null) continue
      checkShare(domain, walletId, record, shares.openShare)
    } catch (cause) {
      const name = Buffer.from(walletId).toString('hex')
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${path}: wallet ${name}: ${reason}`, { cause })
    }
    checked++
  }
  return checked
}
