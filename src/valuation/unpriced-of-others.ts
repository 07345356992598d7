import type { SimulatedTransfer } from '../chains/simulate/simulation.js'
import { type Address, ZERO_ADDRESS } from '../domain/ids.js'
import { namedIn } from './calldata.js'
import type { PriceBook } from './price-book.js'
import type { QuotedCall } from './quoter.js'

/**
 * Third contracts may also hold unpriced assets for a wallet: shares, receipts, positions. Their
 * value is unknown, so a call that makes those contracts give them away moves unpriced assets.
 * Pools give such tokens away all day, between the hops of a swap, so it counts
 *
 * - when the contract that the wallet calls gives away its own tokens to anyone except the wallet;
 * - when an address that the calldata names, and that gives nothing to anyone in this call,
 *   receives assets that others had: a stranger, and not a pool.
 *
 * Tokens minted in the call belonged to no one, and burnt ones are received by no one. What the
 * wallet itself gives away is its own outflow.
 *
 * Spec silent: a swap into such a token in favour of someone else has that shape, and is refused
 * for keys that permit none; a fee on what the wallet receives does not have it.
 */
export function givesAwayUnpriced(
  { from: wallet, to, data }: Pick<QuotedCall, 'from' | 'to' | 'data'>,
  transfers: readonly SimulatedTransfer[],
  prices: PriceBook,
): boolean {
  const givers = new Set<Address>()
  const payees = new Set<Address>()
  const changes = new Map<string, Map<Address, bigint>>()
  for (const transfer of transfers) {
    const { token, from, to: payee, amount, kind, tokenId } = transfer
    if (amount === 0n || from === payee) continue
    givers.add(from === ZERO_ADDRESS && token !== null ? token : from)
    if (token === null || (kind === 'erc20' && prices.has(token.toLowerCase()))) continue
    payees.add(payee)
    const asset = changesOf(changes, `${token}${tokenId ?? ''}`)
    asset.set(from, (asset.get(from) ?? 0n) - amount)
    asset.set(payee, (asset.get(payee) ?? 0n) + amount)
  }
  if (changes.size === 0) return false
  const named = namedIn(data, payees)
  for (const asset of changes.values()) {
    const gained = asset.get(wallet) ?? 0n
    if (gained < 0n) continue
    const burnt = asset.get(ZERO_ADDRESS) ?? 0n
    const lost = -(asset.get(to) ?? 0n) - gained - (burnt > 0n ? burnt : 0n)
    if (isMoreThanFee(lost, gained)) return true
    const parties = [...asset].filter(([party]) => party !== wallet && party !== ZERO_ADDRESS)
    if (!parties.some(([, change]) => change < 0n)) continue
    const isStranger = ([party, change]: readonly [Address, bigint]) =>
      named.has(party) && party !== to && !givers.has(party) && isMoreThanFee(change, gained)
    if (parties.some(isStranger)) return true
  }
  return false
}

/**
 * The fee in relation to what the wallet receives; interfaces and aggregators take up to 3 % of
 * what is bought.
 */
const FEE_PART = 20n

function isMoreThanFee(amount: bigint, gained: bigint): boolean {
  return amount > 0n && amount * FEE_PART > gained
}

function changesOf(
  changes: Map<string, Map<Address, bigint>>,
  asset: string,
): Map<Address, bigint> {
  const known = changes.get(asset)
  if (known !== undefined) return known
  const made = new Map<Address, bigint>()
  changes.set(asset, made)
  return made
}
