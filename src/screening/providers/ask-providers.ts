import type { ListVersion } from '../lists/published-lists.js'
import type { NamedAddress, Verdict } from '../screener.js'
import { ADDRESS_BYTES, writeAddress } from '../set/address-bytes.js'
import { findEntry } from '../set/address-set.js'
import type { UserRules } from '../user-rules.js'
import type { RiskAnswer, RiskProvider } from './risk-provider.js'

/**
 * The most addresses of one call that are checked: checking thousands would let one call drain the
 * provider's quota. A call that names more is refused when a provider is required; otherwise its
 * target and the recipients of the simulation are checked before the addresses in its calldata.
 */
const PROVIDER_ADDRESSES_MAX = 256
/** Requests under way for one call. */
const CONCURRENCY = 8

/**
 * Checks every address with every provider, each once, up to a bound.
 * @returns the verdict that stops the call, or null
 */
export async function askProviders(
  providers: readonly RiskProvider[],
  all: readonly NamedAddress[],
  rules: UserRules | undefined,
  lists: readonly ListVersion[],
): Promise<Verdict | null> {
  const addresses = distinct(all)
  for (const provider of providers) {
    const named =
      provider.kind === 'risk' ? addresses.filter((entry) => !isAllowed(entry, rules)) : addresses
    if (named.length > PROVIDER_ADDRESSES_MAX && provider.whenUnavailable === 'stop') {
      const reason = 'The calldata names more addresses than can be checked with a provider.'
      return { outcome: 'undecodable', lists, reason, path: 'data' }
    }
    const asked = named.slice(0, PROVIDER_ADDRESSES_MAX)
    const objection = await askOne(provider, asked, lists)
    if (objection !== null) return objection
  }
  return null
}

async function askOne(
  provider: RiskProvider,
  asked: readonly NamedAddress[],
  lists: readonly ListVersion[],
): Promise<Verdict | null> {
  let unavailable: string | null = null
  for (let at = 0; at < asked.length; at += CONCURRENCY) {
    const batch = asked.slice(at, at + CONCURRENCY)
    const answers = await Promise.all(batch.map(({ address }) => provider.check(address)))
    for (const [i, answer] of answers.entries()) {
      const entry = batch[i]
      if (entry === undefined) continue
      if (answer.outcome === 'flagged') return flagged(provider, entry, answer, lists)
      if (answer.outcome === 'unavailable') unavailable ??= answer.reason
    }
    // An unavailable provider is not called for the remaining addresses; a hit in this batch still
    // counts.
    if (unavailable !== null) break
  }
  if (unavailable === null || provider.whenUnavailable === 'skip') return null
  return { outcome: 'unavailable', lists, reason: `${provider.name}: ${unavailable}` }
}

function flagged(
  provider: RiskProvider,
  { address, path }: NamedAddress,
  answer: RiskAnswer & { readonly outcome: 'flagged' },
  lists: readonly ListVersion[],
): Verdict {
  const list = `${provider.name}: ${answer.category}`
  const hit = { address, path, list, listVersion: answer.version, kind: provider.kind }
  return { outcome: 'blocked', lists, hit }
}

function distinct(named: readonly NamedAddress[]): readonly NamedAddress[] {
  const seen = new Map<string, NamedAddress>()
  for (const entry of named) {
    const key = entry.address.toLowerCase()
    if (!seen.has(key)) seen.set(key, entry)
  }
  return [...seen.values()]
}

function isAllowed({ address }: NamedAddress, rules: UserRules | undefined): boolean {
  if (rules === undefined) return false
  const bytes = new Uint8Array(ADDRESS_BYTES)
  return writeAddress(address, bytes) && findEntry(rules.allow, bytes, 0) >= 0
}
