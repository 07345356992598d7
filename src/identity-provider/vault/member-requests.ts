import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import { requirePlaceFor } from '../../custody/members/member-set.js'
import { type MemberAction, readMemberStatement } from '../../custody/members/member-statement.js'
import { mayIn, type Role } from '../../domain/role.js'
import { expectBytes } from '../../quorum-protocol/bytes.js'
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

export interface PersonNamed {
  readonly personId: string
  /** In its normal form, however it is written by the person or by the owner. */
  readonly email: string
}

export interface MemberRequests {
  /**
   * Returns what a statement about the change has to contain, by what is known now.
   * @param fields `[account id, action, e-mail or person id, console token]`
   * @returns `[person id, e-mail, requester's id, sequence, present role]`; null when there is no
   * such person, or the text is not an address with which a person can be invited
   * @throws Refusal NOT_GRANTED or MALFORMED; CONFLICT when the account has no place for the
   * invited person
   */
  plan(fields: readonly unknown[]): Promise<unknown[] | null>
  /**
   * Makes the change. Resolves once it is durable.
   * @param fields `[statement, proof or null, console token]`
   * @param admit called after the token is verified, in the step that begins the change; throws
   * when there is no room
   * @throws Refusal as `Members.change`
   */
  put(fields: readonly unknown[], admit: (action: MemberAction) => void): Promise<null>
}

const ACTIONS: readonly MemberAction[] = ['invite', 'accept', 'change', 'remove']
const TEXT_CHARS_MAX = 255
const TOKEN_CHARS_MAX = 8_192

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
    async plan([accountId, action, who, token]) {
      const account = text(accountId, TEXT_CHARS_MAX)
      const asked = ACTIONS.find((one) => one === action)
      if (asked === undefined) throw new Refusal('MALFORMED', 'action')
      const by = await holderOf(text(token, TOKEN_CHARS_MAX))
      const subject = asked === 'accept' ? by.personId : text(who, TEXT_CHARS_MAX)
      const isOwn = asked !== 'invite' && asked !== 'change' && subject === by.personId
      if (!isOwn) requireOwner(by, account)
      const found = await subjectOf(account, asked, subject)
      if (found === null) return null
      const [{ personId, email }, role] = found
      const set = members.setOf(account)
      // Checked before an owner is asked for a passkey to no purpose.
      if (asked === 'invite') requirePlaceFor(set, personId, Date.now())
      return [personId, email, by.personId, set.sequence + 1, role]
    },
    async put([encoded, proof, token], admit) {
      const { statement, rest } = readMemberStatement(expectBytes(encoded))
      if (rest.length > 0) throw new Refusal('MALFORMED', 'trailing bytes')
      const taken = proof === null ? null : expectBytes(proof)
      if (taken !== null && taken.length > PROOF_BYTES_MAX) throw new Refusal('MALFORMED', 'proof')
      const by = await holderOf(text(token, TOKEN_CHARS_MAX))
      const { accountId, action, personId, byId, email } = statement
      if (byId !== by.personId) throw new Refusal('NOT_GRANTED', 'requested by another person')
      const isOwn = (action === 'accept' || action === 'remove') && personId === by.personId
      if (!isOwn) requireOwner(by, accountId)
      if (!(await isShownAs(accountId, action, personId, email))) {
        throw new Refusal('NOT_GRANTED', 'another address')
      }
      admit(action)
      await members.change(statement, taken)
      return null
    },
  }
}

function text(value: unknown, charsMax: number): string {
  if (typeof value !== 'string' || value.length > charsMax) throw new Refusal('MALFORMED', 'text')
  return value
}
