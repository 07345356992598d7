import type { GrantTerms } from '../../domain/grant-terms.js'
import { describeGrant } from './describe-grant.js'
import type { GrantStatement } from './grant-statement.js'

/** A line of a grant in words, and what it said before where that was something else. */
export interface ChangedLine {
  readonly name: string
  readonly value: string
  /** Null: it stays as it is. */
  readonly before: string | null
}

/**
 * By the key that the statement is about: a change of one that is there may also name another that
 * it was rotated from, which says nothing about what it may do now.
 * @param termsOf what a key may do now; null: there is none
 * @returns null of a new key
 */
export function changeOf(
  next: GrantStatement,
  termsOf: (keyId: Uint8Array) => GrantTerms | null,
): readonly ChangedLine[] | null {
  const before = termsOf(next.keyId)
  return before === null ? null : describeGrantChange(next, before)
}

/** @param before what the key may do now */
export function describeGrantChange(next: GrantStatement, before: GrantTerms): ChangedLine[] {
  const said = describeGrant({ ...next, ...before, proofKeyDigest: null })
  return describeGrant(next).map(([name, value], index) => {
    // The one line that is not of what stays is the last: a secret that takes another's place.
    const was = said[index]?.[1] ?? 'the one there is'
    return { name, value, before: was === value ? null : was }
  })
}
