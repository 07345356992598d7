import { PROOF_BYTES_MAX } from '../../custody/authorizers/proof.js'
import { requirePlaceFor } from '../../custody/members/member-set.js'
import { type MemberAction, readMemberStatement } from '../../custody/members/member-statement.js'
import { mayIn, type Role } from '../../domain/role.js'
import { expectBytes } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { TokenHolder } from './console-token.js'
import type { Members } from './members.js'

/** Of the socket's `member-*` calls, by which a person changes who is a member. */

/** Who signs in here. */
export interface People {
  /** Null: nobody does by that address. */
  byEmail(email: string): PersonNamed | null
  emailOf(personId: string): string | null
}

export interface PersonNamed {
  readonly personId: string
  readonly email: string
}

export interface MemberRequests {
  /**
   * What a statement about the change has to say, by what is known now.
   * @param fields `[account id, action, e-mail or person id, console token]`
   * @returns `[person id, e-mail, asker's id, sequence, role by now]`; null: there is no such person
   * @throws Refusal NOT_GRANTED or MALFORMED; CONFLICT when there is no place for whom it invites
   */
  plan(fields: readonly unknown[]): Promise<unknown[] | null>
  /**
   * Makes the change; durable when it resolves.
   * @param fields `[statement, proof or null, console token]`
   * @param admit once the token is verified, in the step that begins the change; throws where there is none
   * @throws Refusal as `Members.change`
   */
  put(fields: readonly unknown[], admit: (action: MemberAction) => void): Promise<null>
}

const ACTIONS: readonly MemberAction[] = ['invite', 'accept', 'change', 'remove']
const TEXT_CHARS_MAX = 255
const TOKEN_CHARS_MAX = 8_192

/** @param people null: another provider signs people in, whose addresses are not known here */
export function createMemberRequests(
  members: Members,
  people: People | null,
  holderOf: (token: string) => Promise<TokenHolder>,
): MemberRequests {
  /** A token is good for its own account; a person's own place anywhere is theirs to take or leave. */
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

  /** An owner reads whom the address is of, and of the statement only the id counts. */
  function isShownAs(
    accountId: string,
    action: MemberAction,
    personId: string,
    email: string,
  ): boolean {
    if (action === 'invite') return people?.emailOf(personId) === email
    return action !== 'change' || emailOf(accountId, personId) === email
  }

  /** @returns who it is about, and what they are by now; null: nobody */
  function subjectOf(
    accountId: string,
    action: MemberAction,
    who: string,
  ): [PersonNamed, Role] | null {
    if (action === 'invite') {
      const person = people?.byEmail(who) ?? null
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
      const found = subjectOf(account, asked, subject)
      if (found === null) return null
      const [{ personId, email }, role] = found
      const set = members.setOf(account)
      // Before an owner is asked for a passkey in vain.
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
      if (byId !== by.personId) throw new Refusal('NOT_GRANTED', 'asked for by somebody else')
      const isOwn = (action === 'accept' || action === 'remove') && personId === by.personId
      if (!isOwn) requireOwner(by, accountId)
      if (!isShownAs(accountId, action, personId, email)) {
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
