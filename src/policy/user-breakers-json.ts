import type { UserBreaker } from './user-breakers.js'

/** A user's breaker on the wire and in the audit trail. */
type UserBreakerJson =
  | {
      readonly kind: 'refusals' | 'new_beneficiaries'
      readonly count: number
      readonly per_seconds: number
    }
  | { readonly kind: 'spend_factor'; readonly factor: number; readonly per_seconds: number }
  | { readonly kind: 'shared_beneficiary'; readonly wallets: number; readonly per_seconds: number }

export function userBreakerJson(breaker: UserBreaker): UserBreakerJson {
  const { kind, perSeconds: per_seconds } = breaker
  if (kind === 'shared_beneficiary') return { kind, wallets: breaker.wallets, per_seconds }
  if (kind === 'spend_factor') return { kind, factor: breaker.factor ?? 0, per_seconds }
  return { kind, count: breaker.count ?? 0, per_seconds }
}

export function userBreakerOf(json: UserBreakerJson): UserBreaker {
  const { kind, per_seconds: perSeconds } = json
  if (kind === 'shared_beneficiary') return { kind, wallets: json.wallets, perSeconds }
  if (kind === 'spend_factor') return { kind, count: null, factor: json.factor, perSeconds }
  return { kind, count: json.count, factor: null, perSeconds }
}
