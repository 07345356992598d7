import type { NewAuditRecord } from '../../src/domain/audit.js'
import type { UserId } from '../../src/domain/ids.js'
import type { GrantOutcome, GrantUpdate } from '../../src/service-custody/co-signer.js'
import { auditEntry } from '../../src/store/audit-entry.js'

/** Records that the identity provider, which keeps the grant, accepted it. */
export function grantAudit(grant: GrantUpdate, taken: GrantOutcome, nowMs: number): NewAuditRecord {
  return auditEntry({
    userId: grant.userId as UserId,
    subWalletId: grant.walletId,
    keyId: grant.keyId,
    atMs: nowMs,
    type: 'grant.put',
    details: {
      permission: grant.permission,
      allowed_chains: grant.allowedChains,
      rotated_from: grant.rotatedFrom,
      revoked: grant.revoked,
      authorized_by: taken.authorizedBy,
      ...(grant.byPerson === undefined ? {} : { by_person: grant.byPerson }),
    },
  })
}
