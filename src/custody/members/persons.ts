import { mayIn, type Power } from '../../domain/role.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { type Authorizer, authorizerName } from '../authorizers/authorizer.js'
import type { AuthorizerStore } from '../authorizers/authorizer-store.js'
import { type Member, type MemberSet, roleIn } from './member-set.js'

/**
 * Links authorizers to persons: an authorizer may do for an account what its person may do there.
 */
export interface Persons {
  /** Tells whether a person has the power in the account now. */
  may(ownerHash: Uint8Array, personId: string, power: Power): boolean
  /** Returns the authorizers of everyone who has the power in the account now, each once. */
  authorizersOf(ownerHash: Uint8Array, power: Power): readonly Authorizer[]
  /**
   * Returns the person's own authorizers, whatever the person may do in accounts.
   * @param personHash SHA-256 of the person's id
   */
  ownAuthorizersOf(personHash: Uint8Array): readonly Authorizer[]
  /**
   * Counts the distinct persons with the power now who are behind these authorizers.
   *
   * Spec silent: in an account to which nobody was ever invited each authorizer counts, because
   * there is no second person whom a policy could require. From the first invitation on,
   * permanently, two authorizers of one person count as one.
   * @param authorizerIds each once
   */
  countOf(ownerHash: Uint8Array, power: Power, authorizerIds: readonly Uint8Array[]): number
  peopleIn(ownerHash: Uint8Array, power: Power): People
  /**
   * Returns the persons who have the power now by that authorizer; null when nobody was ever
   * invited.
   */
  holdersOf(ownerHash: Uint8Array, power: Power, authorizerId: Uint8Array): readonly string[] | null
}

/** The persons who have a power in an account at one moment. */
export interface People {
  /** Whether somebody was ever invited to the account. */
  readonly isShared: boolean
  /** The names of each person's authorizers. */
  readonly authorizersOfEach: readonly ReadonlySet<string>[]
}

/** What a domain knows about the members of accounts. */
export interface KnownMembers {
  /**
   * Null for an account to which nobody was ever invited.
   * @param ownerHash 32 bytes: SHA-256 of the account's id
   */
  members(ownerHash: Uint8Array): MemberSet | null
}

export function createPersons(
  ledger: KnownMembers,
  authorizers: Pick<AuthorizerStore, 'setOf'>,
): Persons {
  /** Returns one list of authorizers per person. */
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

/** @param names the authorizers' names, each once */
export function countPeople(
  { isShared, authorizersOfEach }: People,
  names: readonly string[],
): number {
  if (!isShared) return names.filter((name) => authorizersOfEach[0]?.has(name) === true).length
  const counted = new Set<number>()
  let people = 0
  for (const name of names) {
    const holders = authorizersOfEach.flatMap((own, place) => (own.has(name) ? [place] : []))
    // A person who shares a key with another could pass for both, so neither counts twice.
    if (holders.length > 0 && !holders.some((place) => counted.has(place))) people++
    for (const place of holders) counted.add(place)
  }
  return people
}
