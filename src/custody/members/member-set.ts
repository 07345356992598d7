import { isRaised, mayIn, type Role } from '../../domain/role.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { MemberStatement } from './member-statement.js'

/** Who has a place in an account, as the statements up to `sequence` make it. */
export interface MemberSet {
  readonly sequence: number
  /** In the order in which they were invited. */
  readonly members: readonly Member[]
}

export interface Member {
  readonly personId: string
  /** As it was when the person was invited; null of the person whose own account it is. */
  readonly email: string | null
  readonly role: Role
  /** Since when the role is as it is, ms since the epoch; 0 of whom the account began with. */
  readonly sinceMs: number
  /** Who gave the role; null of whom the account began with. */
  readonly byId: string | null
  /** Invited, and not a member yet: until when it may be accepted, ms since the epoch; else null. */
  readonly acceptBeforeMs: number | null
}

/** Spec silent: with invitations that are open; each member's authorizers are asked at a signature. */
export const MEMBERS_MAX = 32
/** Spec silent: an invitation reaches a person on holiday, and a link does not lie about for good. */
export const INVITATION_MS = 7 * 24 * 3_600_000

/** An account to which nobody was ever invited. */
export function alone(accountId: string): MemberSet {
  const first = { email: null, sinceMs: 0, byId: null, acceptBeforeMs: null }
  return { sequence: 0, members: [{ personId: accountId, role: 'owner', ...first }] }
}

/** Null: no member, or not yet. */
export function roleIn({ members }: MemberSet, personId: string): Role | null {
  const found = members.find((one) => one.personId === personId)
  return found === undefined || found.acceptBeforeMs !== null ? null : found.role
}

/**
 * Holds a statement against the set that it is for.
 * @returns whether an owner's authorizer has to confirm it, or with `accepts` one of the person's own
 * @throws Refusal STALE_GRANT when the members changed meanwhile; NOT_GRANTED, CONFLICT, EXPIRED
 */
export function checkMemberChange(
  set: MemberSet,
  statement: MemberStatement,
  nowMs: number,
): 'enlarges' | 'takes-away' | 'accepts' {
  const { action, role, personId, byId, acceptBeforeMs } = statement
  if (statement.sequence !== set.sequence + 1) {
    throw new Refusal('STALE_GRANT', 'the members changed meanwhile')
  }
  const present = set.members.find((one) => one.personId === personId)
  if (action === 'accept') {
    const invited = present?.acceptBeforeMs ?? null
    if (present === undefined || invited === null || byId !== personId || role !== present.role) {
      throw new Refusal('NOT_GRANTED', 'no such invitation')
    }
    if (invited <= nowMs) throw new Refusal('EXPIRED', 'invitation')
    return 'accepts'
  }
  const isOwn = action === 'remove' && byId === personId
  const by = roleIn(set, byId)
  if (!isOwn && (by === null || !mayIn(by, 'enlarge'))) {
    throw new Refusal('NOT_GRANTED', 'only an owner changes who is a member')
  }
  if (action === 'invite') {
    requirePlaceFor(set, personId, nowMs)
    if (acceptBeforeMs <= nowMs || acceptBeforeMs > nowMs + INVITATION_MS) {
      throw new Refusal('MALFORMED', 'time of an invitation')
    }
    return 'enlarges'
  }
  if (present === undefined) throw new Refusal('CONFLICT', 'no member')
  if (action === 'remove') {
    if (role !== present.role) throw new Refusal('CONFLICT', 'another role')
    requireOwnerLeft(set, personId)
    return 'takes-away'
  }
  // What was confirmed with an invitation is its role: another one is another invitation.
  if (present.acceptBeforeMs !== null) throw new Refusal('CONFLICT', 'not a member yet')
  if (present.role === role) throw new Refusal('CONFLICT', 'it is the role already')
  if (role !== 'owner') requireOwnerLeft(set, personId)
  return isRaised(present.role, role) ? 'enlarges' : 'takes-away'
}

/** @throws Refusal CONFLICT when the person has a place or an invitation, or there is no place left */
export function requirePlaceFor(set: MemberSet, personId: string, nowMs: number): void {
  const standing = set.members.filter((one) => !hasLapsed(one, nowMs))
  if (standing.some((one) => one.personId === personId)) {
    throw new Refusal('CONFLICT', 'a member or invited already')
  }
  if (standing.length >= MEMBERS_MAX) throw new Refusal('CONFLICT', 'too many members')
}

/** Whether anybody is left who could ever let somebody in again. */
function requireOwnerLeft({ members }: MemberSet, personId: string): void {
  const isLeft = members.some(
    (one) => one.personId !== personId && one.role === 'owner' && one.acceptBeforeMs === null,
  )
  const isMember = members.some(
    (one) => one.personId === personId && one.role === 'owner' && one.acceptBeforeMs === null,
  )
  if (isMember && !isLeft) throw new Refusal('CONFLICT', 'the last owner stays')
}

/** Adds what a statement says, without a look at its rules: for statements checked before. */
export function foldMember(set: MemberSet, statement: MemberStatement, timeMs: number): MemberSet {
  const { action, role, personId, email, byId, sequence, acceptBeforeMs } = statement
  const given = { role, sinceMs: timeMs, byId }
  const changed = set.members.flatMap((one): Member[] => {
    // An invitation ends with the owner who confirmed it, or with that person's power to do so.
    if (one.acceptBeforeMs !== null && one.byId === personId && role !== 'owner') return []
    if (one.acceptBeforeMs !== null && one.byId === personId && action === 'remove') return []
    if (one.personId !== personId) return hasLapsed(one, timeMs) ? [] : [one]
    if (action === 'remove' || action === 'invite') return []
    if (action === 'accept') return [{ ...one, sinceMs: timeMs, acceptBeforeMs: null }]
    return [{ ...one, ...given }]
  })
  const invited = action === 'invite' ? [{ personId, email, ...given, acceptBeforeMs }] : []
  return { sequence, members: [...changed, ...invited] }
}

function hasLapsed({ acceptBeforeMs }: Member, nowMs: number): boolean {
  return acceptBeforeMs !== null && acceptBeforeMs <= nowMs
}
