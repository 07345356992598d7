import type { QuotaName } from '../domain/quotas.js'
import { type Fault, fault } from './fault.js'

const NAMES: Readonly<Record<QuotaName, string>> = {
  wallets: 'wallets',
  keys: 'API keys that are neither revoked nor rotated out',
  webhooks: 'webhook endpoints',
  rules: 'address rules',
}

export function quotaExceeded(quota: QuotaName, limit: number): Fault {
  const remedy = quota === 'wallets' ? 'ask the operator for more' : 'remove one first'
  return fault(
    'QUOTA_EXCEEDED',
    { quota, limit },
    `A user has at most ${limit} ${NAMES[quota]}; ${remedy}.`,
  )
}
