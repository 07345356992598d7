import type { AuthorizerSet } from '../../custody/authorizers/authorizer-set.js'
import { alone, checkMemberChange, foldMember } from '../../custody/members/member-set.js'
import type { MemberStatement } from '../../custody/members/member-statement.js'
import { createPersons, type Persons } from '../../custody/members/persons.js'
import type { MemberRow } from '../../identity-provider/vault/member-rows.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'

/** Replays members from the identity provider's log, in its order. */
export interface MemberReplay {
  /** Who may do what after the entries so far. */
  readonly persons: Persons
  /** @throws Refusal when it breaks a rule, by the entries before it */
  effectOf(statement: MemberStatement, timeMs: number): ReturnType<typeof checkMemberChange>
  changed(statement: MemberStatement, timeMs: number): void
  /**
   * Returns the accounts in which the person has a place; accounts and `person` are hashes of ids,
   * in hex.
   */
  accountsOf(person: string): readonly string[]
}

export function createMemberReplay(setOf: (ownerHash: Uint8Array) => AuthorizerSet): MemberReplay {
  const rows = new Map<string, MemberRow>()

  /** Returns the row before a change. A restored ledger skips sequences, and never goes back. */
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
