import { CUSTODY_ADDRESS } from '../../../actors/addresses.js'
import type { Authorization } from '../../api/console.js'
import { alone, type Member } from '../../custody/members/member-set.js'
import type { UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import type { MemberOutcome, MemberUpdate } from '../../service-custody/co-signer.js'
import type { ConsoleContext, ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { answerToAuthorization, fingerprintOf, proofOf } from './authorizations.js'
import { createInvitationRate } from './invitation-rate.js'

/**
 * The members of an account. The identity provider decides; both sides require proofs for what
 * enlarges.
 */

/** The console page on which a person answers invitations. */
const INVITATION_PATH = '/console/members'
/**
 * Invitations shown to one person, who answers some before seeing more. Everybody who signs in here
 * may invite.
 */
const INVITATIONS_SHOWN_MAX = 64

export function listMembers({ members }: OperationPorts): ConsoleHandlers['list_members'] {
  return ({ userId }) => {
    const set = members.members(hashOf(userId)) ?? alone(userId)
    return ok({ account_id: userId, members: set.members.map(memberView) })
  }
}

export function inviteMember(ports: OperationPorts): ConsoleHandlers['invite_member'] {
  const refusalOf = createInvitationRate(ports.nowMs)
  return async (context, { authorization, ...input }) => {
    const { email, role } = input
    const tooMany = refusalOf({ accountId: context.userId, personId: context.personId })
    if (tooMany !== null) return refuse(tooMany)
    const change = { action: 'invite', accountId: context.userId, who: email, role } as const
    const asked = { operation: 'invite_member', input, authorization, change }
    const made = await confirmed(ports, context, asked)
    if (!made.ok) return made
    const { personId, acceptBeforeMs, authorizedBy } = made.value
    const acceptBefore = isoTime(acceptBeforeMs ?? 0)
    const told = { email: made.value.email, role, accountId: context.userId, acceptBefore }
    return ok({
      ...{ person_id: personId, email: made.value.email, role },
      accept_before: acceptBefore,
      invitation_path: INVITATION_PATH,
      mailed: await ports.mailInvitation(told),
      authorized_by: authorizedBy,
    })
  }
}

export function changeMember(ports: OperationPorts): ConsoleHandlers['change_member'] {
  return async (context, { authorization, ...input }) => {
    const { person_id: who, role } = input
    const change = { action: 'change', accountId: context.userId, who, role } as const
    const asked = { operation: 'change_member', input, authorization, change }
    const made = await confirmed(ports, context, asked)
    if (!made.ok) return made
    const { personId, roleBefore, authorizedBy } = made.value
    const before = { role_before: roleBefore ?? role, authorized_by: authorizedBy }
    return ok({ person_id: personId, role, ...before })
  }
}

export function removeMember(ports: OperationPorts): ConsoleHandlers['remove_member'] {
  return async (context, { person_id }) => removed(ports, context, person_id)
}

export function leaveAccount(ports: OperationPorts): ConsoleHandlers['leave_account'] {
  return async (context) => removed(ports, context, context.personId)
}

export function acceptInvitation(ports: OperationPorts): ConsoleHandlers['accept_invitation'] {
  return async (context, { authorization, ...input }) => {
    const { account_id: accountId } = input
    const change = { action: 'accept', accountId, who: '', role: null } as const
    const asked = { operation: 'accept_invitation', input, authorization, change }
    const made = await confirmed(ports, context, asked)
    return made.ok ? ok({ account_id: accountId, role: made.value.role }) : made
  }
}

export function declineInvitation(ports: OperationPorts): ConsoleHandlers['decline_invitation'] {
  return async (context, { account_id: accountId }) => {
    const { personId } = context
    const { members } = ports.members.members(hashOf(accountId)) ?? alone(accountId)
    const isInvited = members.some(
      (one) => one.personId === personId && (one.acceptBeforeMs ?? 0) > ports.nowMs(),
    )
    if (!isInvited) return refuse(fault('NOT_FOUND', { account_id: accountId }))
    const change = { action: 'remove', accountId, who: personId, role: null } as const
    const made = await ask(ports, context, change, null)
    return made.ok ? ok({ account_id: accountId, role: null }) : made
  }
}

/** The part of `get_user` about the person's accounts. */
export function placesOf(ports: OperationPorts, { personId, role }: ConsoleContext) {
  const ownSet = ports.members.members(hashOf(personId)) ?? alone(personId)
  const own = { accountId: personId as string, members: ownSet.members }
  const others = ports.members.accountsOf(personId)
  const all = [own, ...others.filter(({ accountId }) => accountId !== personId)]
  const accounts = all.flatMap(({ accountId, members }) =>
    members
      .filter((one) => one.personId === personId && one.acceptBeforeMs === null)
      .map((one) => ({ account_id: accountId, role: one.role })),
  )
  return { person_id: personId, role, accounts, invitations: invitationsOf(ports, personId) }
}

function invitationsOf({ members, nowMs }: OperationPorts, personId: UserId) {
  const waiting = members.accountsOf(personId).flatMap((account) =>
    account.members.flatMap(({ personId: of, role, acceptBeforeMs }) => {
      if (of !== personId || acceptBeforeMs === null || acceptBeforeMs <= nowMs()) return []
      const { accountId } = account
      return [{ account_id: accountId, role, accept_before: isoTime(acceptBeforeMs) }]
    }),
  )
  return waiting.slice(0, INVITATIONS_SHOWN_MAX)
}

type Change = Omit<MemberUpdate, 'consoleToken' | 'askedBy' | 'authorization'>

interface Asked {
  readonly operation: string
  /** The request without its proof. */
  readonly input: object
  readonly authorization: Authorization | undefined
  readonly change: Change
}

function confirmed(
  ports: OperationPorts,
  context: ConsoleContext,
  { operation, input, authorization, change }: Asked,
): Promise<Result<MemberOutcome>> {
  const { userId, personId } = context
  const fingerprint = fingerprintOf(operation, { ...input, by: personId })
  const wanted = { userId, fingerprint, authorization, enlarges: ['members'] }
  return answerToAuthorization(ports, wanted, (pending) =>
    ask(
      ports,
      context,
      change,
      pending === null || authorization === undefined
        ? null
        : {
            version: pending.version,
            confirmBeforeMs: pending.confirmBeforeMs,
            proof: proofOf(authorization),
          },
    ),
  )
}

function ask(
  { actors }: OperationPorts,
  { token, personId: askedBy, requestId }: ConsoleContext,
  change: Change,
  authorization: MemberUpdate['authorization'],
): Promise<Result<MemberOutcome>> {
  const update: MemberUpdate = { ...change, askedBy, consoleToken: token, authorization }
  return actors.ask(CUSTODY_ADDRESS, { type: 'change-member', update, requestId })
}

async function removed(ports: OperationPorts, context: ConsoleContext, who: string) {
  const change = { action: 'remove', accountId: context.userId, who, role: null } as const
  const made = await ask(ports, context, change, null)
  return made.ok ? ok({ person_id: made.value.personId, removed: true as const }) : made
}

function memberView({ personId, email, role, sinceMs, byId, acceptBeforeMs }: Member) {
  const status: 'member' | 'invited' = acceptBeforeMs === null ? 'member' : 'invited'
  return {
    ...{ person_id: personId, email, role, status, by: byId },
    since: sinceMs === 0 ? null : isoTime(sinceMs),
    accept_before: acceptBeforeMs === null ? null : isoTime(acceptBeforeMs),
  }
}

function hashOf(id: string): Buffer {
  return sha256(Buffer.from(id))
}
