import type { AuthorizerSet } from '../../custody/authorizers/authorizer-set.js'
import { alone, checkMemberChange, foldMember } from '../../custody/members/member-set.js'
import type { MemberStatement } from '../../custody/members/member-statement.js'
import { createPersons, type Persons } from '../../custody/members/persons.js'
import type { MemberRow } from '../../identity-provider/vault/member-rows.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'

/** What the user side's log says of members, to be told in its order. */
export interface MemberReplay {
  /** Who may what by what was told so far. */
  readonly persons: Persons
  /** @throws Refusal where it is against the rules of what was before it */
  effectOf(statement: MemberStatement, timeMs: number): ReturnType<typeof checkMemberChange>
  changed(statement: MemberStatement, timeMs: number): void
  /** Accounts that the person has a place in, by the hash of the account's id in hex, as is `person`. */
  accountsOf(person: string): readonly string[]
}

export function createMemberReplay(setOf: (ownerHash: Uint8Array) => AuthorizerSet): MemberReplay {
  const rows = new Map<string, MemberRow>()

  /** A restored ledger leaves sequences out, and never goes back. */
  function before({ accountId, sequence }: MemberStatement): MemberRow {
    const known = rows.get(nameOf(accountId)) ?? { accountId, ...alone(accountId) }
    return sequence > known.sequence ? { ...known, sequence: sequence - 1 } : known
  }

  return {
    persons: createPersons({ members: (ownerHash) => rows.get(hex(ownerHash)) ?? null }, { setOf }),
    effectOf: (statement, timeMs) => checkMemberChange(before(statement), statement, timeMs),
    changed(statement, timeMs) {
      const { accountId } = statement
      rows.set(nameOf(accountId), {
        accountId,
        ...foldMember(before(statement), statement, timeMs),
      })
    },
    accountsOf: (person) =>
      [...rows].flatMap(([name, { members }]) =>
        members.some(({ personId }) => nameOf(personId) === person) ? [name] : [],
      ),
  }
}

function nameOf(id: string): string {
  return hex(sha256(Buffer.from(id)))
}

function hex(bytes: Uint8Array): string {
  return viewOf(bytes).toString('hex')
}
