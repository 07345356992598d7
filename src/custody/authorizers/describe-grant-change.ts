import type { GrantTerms } from '../../domain/grant-terms.js'
import { describeGrant } from './describe-grant.js'
import type { GrantStatement } from './grant-statement.js'

/** A line that describes a grant, with its earlier value if that differed. */
export interface ChangedLine {
  readonly name: string
  readonly value: string
  /** Null when the line does not change. */
  readonly before: string | null
}

/**
 * Compares with the key that the statement is about. The key that it was rotated from, which the
 * statement may also name, says nothing about what it may do now.
 * @param termsOf returns what a key may do now; null for an unknown key
 * @returns null for a new key
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
    // Only the last line may have no counterpart: a secret that replaces another.
    const was = said[index]?.[1] ?? 'the one there is'
    return { name, value, before: was === value ? null : was }
  })
}
