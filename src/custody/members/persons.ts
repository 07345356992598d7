import { mayIn, type Power } from '../../domain/role.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type Authorizer, authorizerName } from '../authorizers/authorizer.js'
import type { AuthorizerStore } from '../authorizers/authorizer-store.js'
import { type Member, type MemberSet, roleIn } from './member-set.js'

/** An authorizer is a person's; what it may for an account is what the person may there. */
export interface Persons {
  /** Whether a person has the power in the account by now. */
  may(ownerHash: Uint8Array, personId: string, power: Power): boolean
  /** Authorizers of all persons who have the power in the account by now, each once. */
  authorizersOf(ownerHash: Uint8Array, power: Power): readonly Authorizer[]
  /** Of the person alone, whatever they may in any account. @param personHash SHA-256 of their id */
  ownAuthorizersOf(personHash: Uint8Array): readonly Authorizer[]
  /**
   * How many different persons who have the power by now were behind these authorizers.
   *
   * Spec silent: in an account to which nobody was ever invited each authorizer counts, as it always
   * did: there is no second person whom a policy could ask for. From the first invitation on, for
   * good, two of one person count as one.
   * @param authorizerIds each once
   */
  countOf(ownerHash: Uint8Array, power: Power, authorizerIds: readonly Uint8Array[]): number
  peopleIn(ownerHash: Uint8Array, power: Power): People
  /** Ids of those who have the power by now by that authorizer; null: nobody was ever invited there. */
  holdersOf(ownerHash: Uint8Array, power: Power, authorizerId: Uint8Array): readonly string[] | null
}

/** Who has a power in an account at one moment. */
export interface People {
  /** Whether somebody was ever invited to the account. */
  readonly isShared: boolean
  /** Names of the authorizers of each person. */
  readonly authorizersOfEach: readonly ReadonlySet<string>[]
}

/** What a domain knows of who is a member of which account. */
export interface KnownMembers {
  /**
   * Null of an account to which nobody was ever invited.
   * @param ownerHash 32 bytes: SHA-256 of the account's id
   */
  members(ownerHash: Uint8Array): MemberSet | null
}

export function createPersons(
  ledger: KnownMembers,
  authorizers: Pick<AuthorizerStore, 'setOf'>,
): Persons {
  /** One list for each person. */
  function listsOf(ownerHash: Uint8Array, power: Power): (readonly Authorizer[])[] {
    const account = ledger.members(ownerHash)
    if (account === null) return [authorizers.setOf(ownerHash).active]
    return membersWith(account, power).map(
      ({ personId }) => authorizers.setOf(hashOf(personId)).active,
    )
  }

  function peopleIn(ownerHash: Uint8Array, power: Power): People {
    const lists = listsOf(ownerHash, power)
    return {
      isShared: ledger.members(ownerHash) !== null,
      authorizersOfEach: lists.map((list) => new Set(list.map(({ id }) => authorizerName(id)))),
    }
  }

  return {
    may(ownerHash, personId, power) {
      const account = ledger.members(ownerHash)
      if (account === null) return sameBytes(sha256(Buffer.from(personId)), ownerHash)
      const role = roleIn(account, personId)
      return role !== null && mayIn(role, power)
    },
    authorizersOf(ownerHash, power) {
      const lists = listsOf(ownerHash, power)
      const [only] = lists
      if (lists.length === 1 && only !== undefined) return only
      // A key that two persons registered is one authorizer.
      return [...new Map(lists.flat().map((one) => [authorizerName(one.id), one])).values()]
    },
    ownAuthorizersOf: (personHash) => authorizers.setOf(personHash).active,
    countOf: (ownerHash, power, authorizerIds) =>
      countPeople(peopleIn(ownerHash, power), authorizerIds.map(authorizerName)),
    peopleIn,
    holdersOf(ownerHash, power, authorizerId) {
      const account = ledger.members(ownerHash)
      if (account === null) return null
      return membersWith(account, power)
        .filter(({ personId }) =>
          authorizers.setOf(hashOf(personId)).active.some(({ id }) => sameBytes(id, authorizerId)),
        )
        .map(({ personId }) => personId)
    },
  }
}

function membersWith({ members }: MemberSet, power: Power): readonly Member[] {
  return members.filter(({ role, acceptBeforeMs }) => acceptBeforeMs === null && mayIn(role, power))
}

function hashOf(id: string): Buffer {
  return sha256(Buffer.from(id))
}

/** @param names of authorizers, each once */
export function countPeople(
  { isShared, authorizersOfEach }: People,
  names: readonly string[],
): number {
  if (!isShared) return names.filter((name) => authorizersOfEach[0]?.has(name) === true).length
  const counted = new Set<number>()
  let people = 0
  for (const name of names) {
    const holders = authorizersOfEach.flatMap((own, place) => (own.has(name) ? [place] : []))
    // Whoever holds a key that another person holds, too, could pass for both.
    if (holders.length > 0 && !holders.some((place) => counted.has(place))) people++
    for (const place of holders) counted.add(place)
  }
  return people
}
