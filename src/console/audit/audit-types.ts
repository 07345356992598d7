import type { AuditFilter } from './use-audit.js'

/** In the order in which people look for them. */
export const AUDIT_TYPES: readonly NonNullable<AuditFilter['type']>[] = [
  ...(['send.allowed', 'send.refused', 'spend.unvalued', 'grant.put', 'wallet.created'] as const),
  ...(['key.created', 'key.changed', 'key.rotated', 'key.rotated_out', 'key.revoked'] as const),
  ...(['approval.requested', 'approval.asked_again', 'approval.decided'] as const),
  ...(['approval.declined', 'approval.expired', 'approval.withdrawn', 'approval.dropped'] as const),
  ...(['user.frozen', 'user.unfrozen', 'wallet.frozen', 'wallet.unfrozen'] as const),
  ...(['key.frozen', 'key.unfrozen', 'breakers.set'] as const),
  ...(['address_rule.set', 'address_rule.removed'] as const),
  ...(['member.invited', 'member.joined', 'member.role_changed', 'member.removed'] as const),
  ...(['webhook.created', 'webhook.changed', 'webhook.enabled', 'webhook.disabled'] as const),
  ...(['webhook.removed', 'webhook.secret_rotated'] as const),
]
