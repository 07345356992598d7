import type { AuditType, NewAuditRecord } from '../../src/domain/audit.js'
import type { UserId } from '../../src/domain/ids.js'
import type { MemberOutcome, MemberUpdate } from '../../src/service-custody/co-signer.js'
import { auditEntry } from '../../src/store/audit-entry.js'

const TYPES: Readonly<Record<MemberUpdate['action'], AuditType>> = {
  invite: 'member.invited',
  accept: 'member.joined',
  change: 'member.role_changed',
  remove: 'member.removed',
}

/** Records who did what; the identity provider's evidence has the change and its proof. */
export function memberAudit(
  { action, accountId }: MemberUpdate,
  { personId, email, byId, role, roleBefore, authorizedBy }: MemberOutcome,
  requestId: string,
  nowMs: number,
): NewAuditRecord {
  return auditEntry({
    userId: accountId as UserId,
    atMs: nowMs,
    type: TYPES[action],
    requestId,
    details: {
      person_id: personId,
      email,
      role,
      role_before: roleBefore,
      by: byId,
      authorized_by: authorizedBy,
    },
  })
}
