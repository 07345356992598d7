import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import {
  alone,
  checkMemberChange,
  foldMember,
  type MemberSet,
  roleIn,
} from '../../custody/members/member-set.js'
import {
  encodeMemberStatement,
  type MemberStatement,
  memberMessage,
  signedForOf,
} from '../../custody/members/member-statement.js'
import type { Role } from '../../domain/role.js'
import { concat } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type Authorizer, type Confirmation, NOTHING_CONFIRMED } from './authorizer.js'
import type { LedgerStore } from './ledger-store.js'
import type { RecordedChanges } from './recorded-changes.js'

/**
 * The members of accounts and their roles. An account begins as one person's own, who is its owner;
 * others join by invitation.
 */
export interface Members {
  setOf(accountId: string): MemberSet
  /** Null when the person is not a member. */
  roleOf(accountId: string, personId: string): Role | null
  /** Returns the accounts that the person is a member of, their own first. */
  membershipsOf(personId: string): readonly Membership[]
  /**
   * Checks a change and applies it durably, in force at once.
   * @param confirmation an encoded proof by an owner's authorizer, or by the accepting person's;
   * null when none was sent
   * @returns the new set of members
   * @throws Refusal STALE_GRANT, NOT_GRANTED, NOT_CONFIRMED, CONFLICT, EXPIRED or MALFORMED
   */
  change(statement: MemberStatement, confirmation: Uint8Array | null): Promise<MemberSet>
}

interface Membership {
  readonly accountId: string
  readonly role: Role
}

/** Spec silent: how many accounts one person may be a member of, including their own. */
export const MEMBERSHIPS_MAX = 32

export function createMembers(
  ledger: LedgerStore,
  authorizer: Authorizer,
  changes: RecordedChanges,
): Members {
  function setOf(accountId: string): MemberSet {
    return ledger.members(ownerHashOf(accountId)) ?? alone(accountId)
  }

  function membershipsOf(personId: string): Membership[] {
    const others = ledger.accountsOf(personId).map(({ accountId }) => accountId)
    return [...new Set([personId, ...others])].flatMap((accountId) => {
      const role = roleIn(setOf(accountId), personId)
      return role === null ? [] : [{ accountId, role }]
    })
  }

  /** @throws Refusal */
  function check(statement: MemberStatement, nowMs: number) {
    const { accountId, personId, action } = statement
    const effect = checkMemberChange(setOf(accountId), statement, nowMs)
    // Checked only on acceptance: otherwise strangers' invitations could block others.
    if (action === 'accept' && membershipsOf(personId).length >= MEMBERSHIPS_MAX) {
      throw new Refusal('CONFLICT', 'a member of too many accounts')
    }
    return effect
  }

  return {
    setOf,
    roleOf: (accountId, personId) => roleIn(setOf(accountId), personId),
    membershipsOf,
    async change(statement, confirmation) {
      const { accountId, confirmBeforeMs } = statement
      const nowMs = Date.now()
      const encoded = encodeMemberStatement(statement)
      const ownerHash = signedForOf(statement)
      const asked = { message: memberMessage(encoded), ownerHash, confirmBeforeMs }
      const effect = check(statement, nowMs)
      const power = effect === 'accepts' ? 'own' : 'enlarge'
      const confirmed: Confirmation =
        effect === 'takes-away'
          ? NOTHING_CONFIRMED
          : await authorizer.confirm(asked, confirmation, nowMs, power)
      const { result, recorded } = changes.commit((writer) => {
        // Checked again: the requester may have been removed while the change was confirmed.
        check(statement, nowMs)
        if (effect === 'enlarges') authorizer.requireStanding(confirmed, ownerHash)
        const next = foldMember(setOf(accountId), statement, nowMs)
        const body = concat(encoded, confirmed.proof)
        writer.putMembers({ accountId, ...next }, { timeMs: nowMs, body })
        return { result: next, entry: { timeMs: nowMs, kind: EVIDENCE_KIND.member, body } }
      })
      await Promise.all([recorded, authorizer.spend(confirmed)])
      return result
    },
  }
}

function ownerHashOf(accountId: string): Buffer {
  return sha256(Buffer.from(accountId))
}
