import { type ApiKey, keyExpiresAtMs, keyStatus } from '../../domain/api-key.js'
import type { CustodyStatus } from '../../domain/grant-change.js'
import { isoTime } from '../../domain/iso-time.js'
import { formatUsd, parseUsd, type UsdMicros } from '../../domain/money.js'
import type { SubWallet } from '../../domain/wallet.js'

/** Wire forms of what the console lists. */
export function walletView(wallet: SubWallet) {
  return {
    sub_wallet_id: wallet.subWalletId,
    name: wallet.name,
    addresses: { evm: wallet.address },
    created_at: isoTime(wallet.createdAtMs),
  }
}

/** @param custody whether the identity provider has acknowledged what the key may do */
export function keyView(
  key: ApiKey,
  lastUsedAtMs: number | null,
  custody: CustodyStatus,
  nowMs: number,
) {
  const expiresAtMs = keyExpiresAtMs(key)
  return {
    key_id: key.keyId,
    name: key.name,
    permission: key.permission,
    daily_limit_usd: capText(key.dailyLimitMicros),
    monthly_limit_usd: capText(key.monthlyLimitMicros),
    allowed_chains: [...key.allowedChains],
    sub_wallet_id: key.subWalletId,
    environment: key.environment,
    status: keyStatus(key, nowMs),
    secret_prefix: key.secretPrefix,
    created_at: isoTime(key.createdAtMs),
    last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    expires_at: expiresAtMs === null ? null : isoTime(expiresAtMs),
    rotated_from: key.rotatedFrom,
    unpriced_assets: key.unpricedAssets,
    duplicate_guard: key.duplicateGuard,
    custody,
  }
}

/** null is unlimited. The schema has checked the text. */
export function capMicros(text: string): UsdMicros | null {
  return text === 'unlimited' ? null : parseUsd(text)
}

export function capText(micros: UsdMicros | null): string {
  return micros === null ? 'unlimited' : formatUsd(micros)
}
