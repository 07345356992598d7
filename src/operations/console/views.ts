import { type ApiKey, keyExpiresAtMs, keyStatus } from '../../domain/api-key.js'
import type { Freezes, Freezing } from '../../domain/freeze.js'
import type { CustodyStatus } from '../../domain/grant-change.js'
import { isoTime } from '../../domain/iso-time.js'
import { policyWire } from '../../domain/key-policy.js'
import type { SubWallet } from '../../domain/wallet.js'

/** Wire forms of what the console lists. */
export function freezeView({ sinceMs, reason, by }: Freezing) {
  return { since: isoTime(sinceMs), reason, by }
}

export function freezeViewOrNull(freezing: Freezing | null | undefined) {
  return freezing == null ? null : freezeView(freezing)
}

/** @param freezes those of its user */
export function walletView(wallet: SubWallet, freezes: Freezes | null) {
  return {
    sub_wallet_id: wallet.subWalletId,
    name: wallet.name,
    addresses: { evm: wallet.address },
    created_at: isoTime(wallet.createdAtMs),
    frozen: freezeViewOrNull(freezes?.wallets.get(wallet.subWalletId)),
  }
}

/**
 * @param custody whether the identity provider has acknowledged the key's grant
 * @param freezes those of its user
 */
export function keyView(
  key: ApiKey,
  lastUsedAtMs: number | null,
  custody: CustodyStatus,
  freezes: Freezes | null,
  nowMs: number,
) {
  const expiresAtMs = keyExpiresAtMs(key)
  return {
    key_id: key.keyId,
    name: key.name,
    ...policyWire(key),
    policy_version: key.policyVersion ?? 0,
    sub_wallet_id: key.subWalletId,
    environment: key.environment,
    status: keyStatus(key, nowMs),
    secret_prefix: key.secretPrefix,
    created_at: isoTime(key.createdAtMs),
    last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    expires_at: expiresAtMs === null ? null : isoTime(expiresAtMs),
    rotated_from: key.rotatedFrom,
    parent_key_id: key.parentLineageId ?? null,
    frozen: freezeViewOrNull(freezes?.lineages.get(key.lineageId)),
    custody,
  }
}
