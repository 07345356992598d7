import { requirePlaceFor } from '../../custody/members/member-set.js'
import { readMemberStatement } from '../../custody/members/member-statement.js'
import type { MemberAction } from '../../domain/members.js'
import { mayIn, type Role } from '../../domain/role.js'
import type { MEMBERS, MemberPlan } from '../../quorum-protocol/methods/members.js'
import type { FieldsOf } from '../../quorum-protocol/methods/method.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { TokenHolder } from './console-token.js'
import type { Members } from './members.js'

/** Answers the socket's `member-*` calls, with which a person changes the members of an account. */

/** The people who sign in here. */
export interface People {
  /**
   * The person of that address, whether or not the operator has let them in yet. The answer has the same form
   * and takes as long, so an invitation does not tell who has an account. Null when it is not an e-mail address.
   */
  byEmail(email: string): Promise<PersonNamed | null>
  emailOf(personId: string): string | null
}

interface PersonNamed {
  readonly personId: string
  /** In its normal form, however it is written by the person or by the owner. */
  readonly email: string
}

type Fields = FieldsOf<typeof MEMBERS>

interface MemberRequests {
  /**
   * Returns what a statement about the change has to contain, by what is known now.
   * @returns null when there is no such person, or the text is not an address with which a person
   * can be invited
   * @throws Refusal NOT_GRANTED; CONFLICT when the account has no place for the invited person
   */
  plan(fields: Fields['member-plan']): Promise<MemberPlan | null>
  /**
   * Makes the change. Resolves once it is durable.
   * @param admit called after the token is verified, in the step that begins the change; throws
   * when there is no room
   * @throws Refusal as `Members.change`
   */
  put(fields: Fields['member-put'], admit: (action: MemberAction) => void): Promise<null>
}

/** @param people null when another provider signs people in, whose addresses are unknown here */
export function createMemberRequests(
  members: Members,
  people: People | null,
  holderOf: (token: string) => Promise<TokenHolder>,
): MemberRequests {
  /**
   * A token is valid for its own account; a person's own membership is always theirs to accept or
   * leave.
   */
  function requireOwner(by: TokenHolder, accountId: string): void {
    const role = by.accountId === accountId ? members.roleOf(accountId, by.personId) : null
    if (role === null || !mayIn(role, 'enlarge')) {
      throw new Refusal('NOT_GRANTED', 'only an owner changes who is a member')
    }
  }

  function emailOf(accountId: string, personId: string): string {
    const member = members.setOf(accountId).members.find((one) => one.personId === personId)
    return member?.email ?? people?.emailOf(personId) ?? personId
  }

  /**
   * An owner reads the e-mail address, but only the id in the statement counts, so they must match.
   */
  async function isShownAs(
    accountId: string,
    action: MemberAction,
    personId: string,
    email: string,
  ): Promise<boolean> {
    if (action === 'invite') {
      const named = (await people?.byEmail(email)) ?? null
      return named?.personId === personId && named.email === email
    }
    return action !== 'change' || emailOf(accountId, personId) === email
  }

  /** @returns the person concerned and their present role; null when there is no such person */
  async function subjectOf(
    accountId: string,
    action: MemberAction,
    who: string,
  ): Promise<[PersonNamed, Role] | null> {
    if (action === 'invite') {
      const person = (await people?.byEmail(who)) ?? null
      return person === null ? null : [person, 'viewer']
    }
    const present = members.setOf(accountId).members.find(({ personId }) => personId === who)
    if (present === undefined) return null
    if (action === 'accept' && (present.acceptBeforeMs ?? 0) <= Date.now()) return null
    return [{ personId: who, email: emailOf(accountId, who) }, present.role]
  }

  return {
    async plan({ accountId, action, who, consoleToken }) {
      const by = await holderOf(consoleToken)
      const subject = action === 'accept' ? by.personId : who
      const isOwn = action !== 'invite' && action !== 'change' && subject === by.personId
      if (!isOwn) requireOwner(by, accountId)
      const found = await subjectOf(accountId, action, subject)
      if (found === null) return null
      const [{ personId, email }, role] = found
      const set = members.setOf(accountId)
      // Checked before an owner is asked for a passkey to no purpose.
      if (action === 'invite') requirePlaceFor(set, personId, Date.now())
      return { personId, email, byId: by.personId, sequence: set.sequence + 1, role }
    },
    async put({ statement: encoded, proof, consoleToken }, admit) {
      const { statement, rest } = readMemberStatement(encoded)
      if (rest.length > 0) throw new Refusal('MALFORMED', 'trailing bytes')
      const by = await holderOf(consoleToken)
      const { accountId, action, personId, byId, email } = statement
      if (byId !== by.personId) throw new Refusal('NOT_GRANTED', 'requested by another person')
      const isOwn = (action === 'accept' || action === 'remove') && personId === by.personId
      if (!isOwn) requireOwner(by, accountId)
      if (!(await isShownAs(accountId, action, personId, email))) {
        throw new Refusal('NOT_GRANTED', 'another address')
      }
      admit(action)
      await members.change(statement, proof)
      return null
    },
  }
}
