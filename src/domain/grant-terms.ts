import { type ApiKey, keyExpiresAtMs } from './api-key.js'

/** What a key may do. The caps are the service's to hold; elsewhere they are confirmed and recorded. */
export interface GrantTerms {
  readonly permission: 'read' | 'trade'
  /** Ascending. */
  readonly chains: readonly number[]
  /** Milliseconds since the epoch; null does not expire. */
  readonly expiresAtMs: number | null
  /** Micro-USD; null is unlimited. */
  readonly dailyLimitMicros: bigint | null
  readonly monthlyLimitMicros: bigint | null
  readonly unpricedAssets: 'deny' | 'allow'
}

/** What of a grant a change can enlarge; wire names. */
export type Enlargement =
  | 'permission'
  | 'allowed_chains'
  | 'expires_at'
  | 'daily_limit_usd'
  | 'monthly_limit_usd'
  | 'unpriced_assets'

/** What `next` gives that `before` did not; empty when it leaves things or takes away. */
export function enlargements(before: GrantTerms, next: GrantTerms): Enlargement[] {
  const found: Enlargement[] = []
  if (before.permission === 'read' && next.permission === 'trade') found.push('permission')
  if (next.chains.some((chain) => !before.chains.includes(chain))) found.push('allowed_chains')
  if (isMore(before.expiresAtMs, next.expiresAtMs)) found.push('expires_at')
  if (isMore(before.dailyLimitMicros, next.dailyLimitMicros)) found.push('daily_limit_usd')
  if (isMore(before.monthlyLimitMicros, next.monthlyLimitMicros)) found.push('monthly_limit_usd')
  if (before.unpricedAssets === 'deny' && next.unpricedAssets === 'allow') {
    found.push('unpriced_assets')
  }
  return found
}

/** What both allow. */
export function commonTerms(one: GrantTerms, other: GrantTerms): GrantTerms {
  return {
    permission: one.permission === 'trade' ? other.permission : 'read',
    chains: one.chains.filter((chain) => other.chains.includes(chain)),
    expiresAtMs: less(one.expiresAtMs, other.expiresAtMs),
    dailyLimitMicros: less(one.dailyLimitMicros, other.dailyLimitMicros),
    monthlyLimitMicros: less(one.monthlyLimitMicros, other.monthlyLimitMicros),
    unpricedAssets: one.unpricedAssets === 'allow' ? other.unpricedAssets : 'deny',
  }
}

export function grantTermsOf(key: ApiKey): GrantTerms {
  return {
    permission: key.permission,
    chains: [...key.allowedChains].sort((a, b) => a - b),
    expiresAtMs: keyExpiresAtMs(key),
    dailyLimitMicros: key.dailyLimitMicros,
    monthlyLimitMicros: key.monthlyLimitMicros,
    unpricedAssets: key.unpricedAssets,
  }
}

/** The key with nothing that its successor does not have; the very same where there is none. */
export function narrowedTo(key: ApiKey, successor: ApiKey): ApiKey {
  const next: ApiKey = {
    ...key,
    permission: key.permission === 'trade' ? successor.permission : 'read',
    allowedChains: key.allowedChains.filter((chain) => successor.allowedChains.includes(chain)),
    dailyLimitMicros: less(key.dailyLimitMicros, successor.dailyLimitMicros),
    monthlyLimitMicros: less(key.monthlyLimitMicros, successor.monthlyLimitMicros),
    unpricedAssets: key.unpricedAssets === 'allow' ? successor.unpricedAssets : 'deny',
  }
  return enlargements(grantTermsOf(next), grantTermsOf(key)).length === 0 ? key : next
}

/** Null is without bound. */
function isMore<T extends number | bigint>(before: T | null, next: T | null): boolean {
  return before !== null && (next === null || next > before)
}

function less<T extends number | bigint>(one: T | null, other: T | null): T | null {
  if (one === null) return other
  return other === null || one < other ? one : other
}
