/** Turns what the scan found into the content of a verdict. */
import { getAddress } from 'viem/utils'
import type { Address } from '../domain/ids.js'
import type { ListVersion, OpenLists } from './lists/published-lists.js'
import type { Hit, NamedAddress, Verdict } from './screener.js'
import { addressTextAt } from './set/address-bytes.js'
import { findEntry } from './set/address-set.js'
import type { Counts } from './set/scan.js'
import type { UserRules } from './user-rules.js'
import type { ReportedParty } from './walk/walk-report.js'

const USER_LIST = 'user-rules'

const always: Counts = () => true

/**
 * Decides what counts as a hit on the lists: the user's allow entries take addresses out of risk
 * lists.
 */
export function countsOf(lists: OpenLists, rules: UserRules | undefined): Counts {
  if (rules === undefined || rules.allow.size === 0) return always
  const { set } = lists
  return (entry) => {
    const kind = lists.lists[set.listIndex[entry] ?? 0]?.kind
    return kind !== 'risk' || findEntry(rules.allow, set.bytes, entry * 20) < 0
  }
}

/** The hit for an entry of the published lists. */
export function listHit(lists: OpenLists, entry: number, path: string): Hit {
  const list = lists.lists[lists.set.listIndex[entry] ?? 0]
  if (list === undefined) throw new Error('the entry belongs to no list')
  const address = checksummed(addressTextAt(lists.set.bytes, entry * 20))
  return { address, path, list: list.list, listVersion: list.version, kind: list.kind }
}

/** The hit for an entry of the user's own block rules. */
export function userHit(rules: UserRules, entry: number, path: string): Hit {
  const address = checksummed(addressTextAt(rules.block.bytes, entry * 20))
  return { address, path, list: USER_LIST, listVersion: 'current', kind: 'user' }
}

export function checksummed(address: string): Address {
  return getAddress(address)
}

/**
 * The addresses of the parties.
 * @param bytes the calldata in which they were found
 */
export function addressesOf(
  bytes: Uint8Array,
  parties: readonly ReportedParty[],
): readonly NamedAddress[] {
  return parties.map(({ offset, form, path }) => {
    const text =
      form === 'bytes'
        ? addressTextAt(bytes, offset)
        : `0x${Buffer.from(bytes.buffer, bytes.byteOffset + offset, 40).toString('latin1')}`
    return { address: checksummed(text.toLowerCase()), path }
  })
}

export function blocked(lists: readonly ListVersion[], hit: Hit): Verdict {
  return { outcome: 'blocked', lists, hit }
}
