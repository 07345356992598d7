/**
 * What one user may have, so that no user fills the store, the memory or the time that all users of
 * a service share. A service has one set for all its users; the operator sets it.
 */
export interface Quotas {
  readonly wallets: number
  /** Keys that a person made and that are neither revoked nor rotated. */
  readonly keys: number
  readonly webhooks: number
  /** Address rules. */
  readonly rules: number
}

export type QuotaName = keyof Quotas

/**
 * Spec silent. A wallet takes a few kilobytes, and one for each agent of a large fleet fits. Keys:
 * two for each of as many wallets, for example one that reads and one that trades. Webhooks: each
 * event is matched with all of its user's. Rules: all of a user's are rewritten at each change and
 * kept in memory by every thread that screens.
 */
export const QUOTA_DEFAULTS: Quotas = { wallets: 10_000, keys: 20_000, webhooks: 100, rules: 1_000 }

/** The most that an operator may set, which is what the other parts are built for. */
export const QUOTAS_MAX: Quotas = {
  wallets: 1_000_000,
  keys: 1_000_000,
  webhooks: 1_000,
  rules: 10_000,
}
