import type { Address } from '../domain/ids.js'
import { parseListedAddress } from './set/address-bytes.js'
import { type AddressSet, buildAddressSet, GRAM_BITS_SMALL } from './set/address-set.js'

/** The most entries of one user: the largest quota of rules (domain/quotas.ts). */
export const USER_RULES_MAX = 10_000

export interface UserRule {
  readonly address: Address
  readonly action: 'block' | 'allow'
}

/**
 * One user's own entries, ready for the scan. A block entry always blocks; an allow entry takes an
 * address out of risk lists and risk providers, never out of a sanctions list or the operator's
 * list.
 */
export interface UserRules {
  readonly block: AddressSet
  readonly allow: AddressSet
}

/**
 * The result should be kept until the user's rules change.
 * @throws RangeError past USER_RULES_MAX entries
 * @throws TypeError when an entry is not an address
 */
export function prepareUserRules(rules: readonly UserRule[]): UserRules {
  if (rules.length > USER_RULES_MAX) throw new RangeError(`more than ${USER_RULES_MAX} rules`)
  return { block: setOf(rules, 'block'), allow: setOf(rules, 'allow') }
}

function setOf(rules: readonly UserRule[], action: UserRule['action']): AddressSet {
  const packed = rules
    .filter((rule) => rule.action === action)
    .map((rule) => {
      const bytes = parseListedAddress(rule.address)
      if (bytes === null) throw new TypeError(`not an address: ${rule.address}`)
      return bytes
    })
  return buildAddressSet([{ packed: Buffer.concat(packed), listIndex: 0 }], GRAM_BITS_SMALL)
}
