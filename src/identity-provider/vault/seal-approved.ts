import type { ShareStore } from '../../custody/domain-keys/share-store.js'
import type { WalletRecord } from '../../custody/domain-keys/wallet-record.js'
import { withBit } from '../../quorum-protocol/batch.js'
import { REFUSAL_CODES } from '../../quorum-protocol/refusal.js'
import {
  allocateShares,
  SHARE_BYTES,
  type ShareSealer,
} from '../../quorum-protocol/sealed-shares.js'

/**
 * Per intent: null when approved, or a refusal's number, with the id that holds the nonce for
 * NONCE_TAKEN, the time here for EXPIRED, what is frozen and since when for FROZEN, and the denial
 * for POLICY_DENIED.
 */
export type Refused = readonly [number] | readonly [number, Uint8Array | readonly unknown[]]
export type IntentAnswer = null | Refused

interface Approved {
  readonly id: Uint8Array
  readonly intent: unknown
  readonly wallet: WalletRecord
}

/** Opens the shares of the approved intents and seals them to the quorum signer, all in one. */
export function sealShares(
  judged: readonly (Approved | Refused)[],
  sealer: ShareSealer,
  store: Pick<ShareStore, 'openShareInto'>,
) {
  const shares = allocateShares(judged.length)
  const ids: Uint8Array[] = []
  const points: Uint8Array[] = []
  let bitmap = 0
  try {
    const answers = judged.map((result, index): IntentAnswer => {
      if (!('intent' in result)) return result
      if (!openInto(shares, ids.length * SHARE_BYTES, result.wallet, store)) {
        return [REFUSAL_CODES.INTERNAL]
      }
      ids.push(result.id)
      points.push(result.wallet.point)
      bitmap = withBit(bitmap, index)
      return null
    })
    const opened = shares.subarray(0, ids.length * SHARE_BYTES)
    const sealed = ids.length === 0 ? opened : sealer.seal(opened, ids, points)
    return { bitmap, answers, shares: sealed }
  } finally {
    shares.fill(0)
  }
}

/** Returns false when the share cannot be opened: a damaged share fails only its own intent. */
function openInto(
  shares: Buffer,
  at: number,
  wallet: WalletRecord,
  store: Pick<ShareStore, 'openShareInto'>,
): boolean {
  try {
    store.openShareInto(wallet, shares, at)
    return true
  } catch {
    return false
  }
}
