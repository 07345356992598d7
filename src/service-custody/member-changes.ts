import { CONFIRMATION_LIFE_MS } from '../custody/authorizers/grant-statement.js'
import { decodeProof } from '../custody/authorizers/proof.js'
import { INVITATION_MS } from '../custody/members/member-set.js'
import {
  encodeMemberStatement,
  type MemberStatement,
  memberMessage,
} from '../custody/members/member-statement.js'
import { isRaised } from '../domain/role.js'
import { FaultError, fault } from '../errors/fault.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { MemberOutcome, MemberUpdate } from './co-signer.js'
import type { GrantAuthority } from './grant-authority.js'
import type { RemoteMembers } from './members.js'

/** The two domains' clocks may differ. */
const CLOCK_SLACK_MS = 60_000

export function createMemberChanges(
  userSide: SocketClient,
  authority: GrantAuthority,
  members: Pick<RemoteMembers, 'follow'>,
  nowMs: () => number,
): (update: MemberUpdate) => Promise<MemberOutcome> {
  return async (update) => {
    const { action, accountId, who, consoleToken, authorization } = update
    const asked = { accountId, action, who, consoleToken }
    const planned = await withReadableErrors(askUserSide(userSide, 'member-plan', asked))
    if (planned === null) throw new FaultError(fault('NOT_FOUND', {}, NOBODY[action]))
    const { personId, email, byId, sequence, role: present } = planned
    const role = action === 'accept' || action === 'remove' ? present : (update.role ?? present)
    const of = { action, role, accountId, sequence, personId, email, byId }
    const statementUntil = (confirmBeforeMs: number): MemberStatement => ({
      ...{ ...of, confirmBeforeMs },
      // The deadline follows from the confirmation's, so that both attempts state the same one.
      acceptBeforeMs:
        action === 'invite'
          ? confirmBeforeMs - CONFIRMATION_LIFE_MS + INVITATION_MS - CLOCK_SLACK_MS
          : 0,
    })
    const takesAway = action === 'remove' || (action === 'change' && !isRaised(present, role))
    const now = nowMs()
    const proof = takesAway
      ? null
      : await authority.proofOver(
          {
            ...{ authorization, version: sequence, messageOf: memberMessage },
            ...(action === 'accept'
              ? ({ userId: personId, power: 'own' } as const)
              : { userId: accountId }),
            statementUntil: (until) => encodeMemberStatement(statementUntil(until)),
          },
          now,
        )
    const confirmBeforeMs = authorization?.confirmBeforeMs ?? now + CONFIRMATION_LIFE_MS
    const statement = statementUntil(takesAway ? 0 : confirmBeforeMs)
    const put = { statement: encodeMemberStatement(statement), proof, consoleToken }
    await withReadableErrors(askUserSide(userSide, 'member-put', put))
    // The change is in force here before its requester has an answer.
    await members.follow(accountId)
    const authorizedBy = proof === null ? 'software' : decodeProof(proof).kind
    return {
      ...{ personId, email, byId, role },
      roleBefore: action === 'invite' ? null : present,
      acceptBeforeMs: action === 'invite' ? statement.acceptBeforeMs : null,
      authorizedBy: takesAway ? null : authorizedBy,
    }
  }
}

const NOBODY: Readonly<Record<MemberUpdate['action'], string>> = {
  // This sentence is the same for every address, so it does not tell who has an account.
  invite:
    'That text is not an e-mail address, or another identity provider signs people in, so nobody can be invited by it.',
  accept: 'The invitation does not exist or has expired.',
  change: 'There is no such member.',
  remove: 'There is no such member.',
}

async function withReadableErrors<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw readableError(error)
  }
}

/** Shows the requester which rule of members was broken; other errors keep their usual form. */
function readableError(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error
  if (error.code !== 'CONFLICT' && error.code !== 'EXPIRED') return error
  // The other domain puts the rule at the end of its message.
  const reason = error.message.slice(error.message.lastIndexOf(':') + 1).trim()
  return new FaultError(fault('INVALID_REQUEST', { reason }, `Not possible: ${reason}.`))
}
