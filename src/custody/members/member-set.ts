import { MEMBERS_MAX } from '../../domain/members.js'
import { isRaised, mayIn, type Role } from '../../domain/role.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { MemberStatement } from './member-statement.js'

/** An account's members and invitations after the statements up to `sequence`. */
export interface MemberSet {
  readonly sequence: number
  /** In the order in which they were invited. */
  readonly members: readonly Member[]
}

export interface Member {
  readonly personId: string
  /** The address at the invitation; null for the person whose own account it is. */
  readonly email: string | null
  readonly role: Role
  /** When the role was given, in ms since the epoch; 0 for the account's first member. */
  readonly sinceMs: number
  /** The person who gave the role; null for the account's first member. */
  readonly byId: string | null
  /** The deadline of an open invitation, in ms since the epoch; null for a member. */
  readonly acceptBeforeMs: number | null
}

/**
 * Spec silent: long enough for a person on holiday, and short enough that a link does not stay
 * open.
 */
export const INVITATION_MS = 7 * 24 * 3_600_000

/** Returns the set of an account to which nobody was ever invited. */
export function alone(accountId: string): MemberSet {
  const first = { email: null, sinceMs: 0, byId: null, acceptBeforeMs: null }
  return { sequence: 0, members: [{ personId: accountId, role: 'owner', ...first }] }
}

/** Null when the person is not a member, or only invited. */
export function roleIn({ members }: MemberSet, personId: string): Role | null {
  const found = members.find((one) => one.personId === personId)
  return found === undefined || found.acceptBeforeMs !== null ? null : found.role
}

/**
 * Checks a statement against the set that it applies to.
 * @returns whether an owner's authorizer has to confirm it, or with `accepts` one of the person's
 * own
 * @throws Refusal STALE_GRANT when the members have changed since; NOT_GRANTED, CONFLICT, EXPIRED
 */
export function checkMemberChange(
  set: MemberSet,
  statement: MemberStatement,
  nowMs: number,
): 'enlarges' | 'takes-away' | 'accepts' {
  const { action, role, personId, byId, acceptBeforeMs } = statement
  if (statement.sequence !== set.sequence + 1) {
    throw new Refusal('STALE_GRANT', 'the members have changed since')
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
  // The confirmation of an invitation covers its role: another role needs another invitation.
  if (present.acceptBeforeMs !== null) throw new Refusal('CONFLICT', 'not a member yet')
  if (present.role === role) throw new Refusal('CONFLICT', 'it is the role already')
  if (role !== 'owner') requireOwnerLeft(set, personId)
  return isRaised(present.role, role) ? 'enlarges' : 'takes-away'
}

/** @throws Refusal CONFLICT when the person is a member or invited, or the account is full */
export function requirePlaceFor(set: MemberSet, personId: string, nowMs: number): void {
  const standing = set.members.filter((one) => !hasLapsed(one, nowMs))
  if (standing.some((one) => one.personId === personId)) {
    throw new Refusal('CONFLICT', 'a member or invited already')
  }
  if (standing.length >= MEMBERS_MAX) throw new Refusal('CONFLICT', 'too many members')
}

/** Requires an owner who remains and could admit people again. */
function requireOwnerLeft({ members }: MemberSet, personId: string): void {
  const isLeft = members.some(
    (one) => one.personId !== personId && one.role === 'owner' && one.acceptBeforeMs === null,
  )
  const isMember = members.some(
    (one) => one.personId === personId && one.role === 'owner' && one.acceptBeforeMs === null,
  )
  if (isMember && !isLeft) throw new Refusal('CONFLICT', 'the last owner stays')
}

/** Applies a statement without checking its rules: for statements checked before. */
export function foldMember(set: MemberSet, statement: MemberStatement, timeMs: number): MemberSet {
  const { action, role, personId, email, byId, sequence, acceptBeforeMs } = statement
  const given = { role, sinceMs: timeMs, byId }
  const changed = set.members.flatMap((one): Member[] => {
    // An invitation ends when the owner who confirmed it leaves or loses the power to invite.
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
