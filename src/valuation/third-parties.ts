import type { SimulatedTransfer } from '../chains/simulate/simulation.js'
import { type Address, ZERO_ADDRESS } from '../domain/ids.js'
import { powerOfTen, type UsdMicros } from '../domain/money.js'
import type { UnitPrice } from '../domain/unit-price.js'
import type { PriceBook } from './price-book.js'

/**
 * Assets that third contracts hold for a wallet leave them by transfers without the wallet: a
 * position's `collect` to a stranger, a lending market's `withdraw` to one. So what others have
 * gained at the end of a call counts as spend, as far as the wallet has not paid it itself.
 *
 * - An intermediary gains nothing: what an address passes on to others is deducted. What it passes
 *   to the wallet is not, because inflows are never netted.
 * - A minted or burnt token comes from and goes to its own contract, so that wrapping native
 *   currency and redeeming shares gain no one anything.
 * - An address that hands out assets of its own and receives them back may receive them in
 *   another's name: a deposit that leaves a market and returns to it for a stranger. That counts as
 *   well, token by token; what an address received in the call and passes on is not its own.
 *
 * Spec silent: a flash loan has that shape, and counts in full.
 *
 * Spec silent: pools are treated like any other address. A swap pays a pool what the wallet has
 * paid, and nothing beyond that counts; only assets that go from a third contract through a pool to
 * the wallet, in one call, count although they came back.
 */
export function gainedByOthers(
  wallet: Address,
  transfers: readonly SimulatedTransfer[],
  prices: PriceBook,
): UsdMicros {
  const flows = transfers.filter(({ kind }) => kind === 'native' || kind === 'erc20')
  // A third party can have paid only when some transfer did not come from the wallet.
  if (!flows.some(({ from, to }) => from !== wallet && to !== wallet && from !== to)) return 0n
  const gains = new Map<Address, Map<string, bigint>>()
  const paid = new Map<string, bigint>()
  for (const { token, from, to, amount } of flows) {
    const key = token === null ? 'native' : token.toLowerCase()
    const payer = from === ZERO_ADDRESS && token !== null ? token : from
    const payee = to === ZERO_ADDRESS && token !== null ? token : to
    if (payer === payee || payee === wallet) continue
    add(gainsOf(gains, payee), key, amount)
    if (payer === wallet) add(paid, key, amount)
    else add(gainsOf(gains, payer), key, -amount)
  }
  let excess = -fineWorth(paid, prices)
  for (const amounts of gains.values()) {
    const gain = fineWorth(amounts, prices)
    if (gain > 0n) excess += gain
  }
  if (excess < 0n) excess = 0n
  return (excess + fineWorth(returnedToGivers(wallet, flows), prices) + FINE - 1n) / FINE
}

interface Standing {
  /** Received in this call and not passed on. */
  held: bigint
  /** Its own assets handed to third parties and not received back. */
  given: bigint
}

/**
 * By lower-case token or `native`: the own assets that third parties handed to others and received
 * back.
 */
function returnedToGivers(
  wallet: Address,
  flows: readonly SimulatedTransfer[],
): ReadonlyMap<string, bigint> {
  const returned = new Map<string, bigint>()
  const standings = new Map<string, Standing>()
  const standingOf = (party: Address, key: string): Standing => {
    const known = standings.get(`${party}${key}`)
    if (known !== undefined) return known
    const made = { held: 0n, given: 0n }
    standings.set(`${party}${key}`, made)
    return made
  }
  for (const { token, from, to, amount } of flows) {
    if (from === to) continue
    const key = token === null ? 'native' : token.toLowerCase()
    // Minting and burning involve no second party.
    if (from !== wallet && from !== ZERO_ADDRESS) {
      const payer = standingOf(from, key)
      const own = amount - min(amount, payer.held)
      payer.held -= amount - own
      if (to !== wallet) payer.given += own
    }
    if (to !== wallet && to !== ZERO_ADDRESS) {
      const payee = standingOf(to, key)
      const back = min(amount, payee.given)
      payee.given -= back
      payee.held += amount - back
      // What the wallet gives back counts as its own payment.
      if (from !== wallet) add(returned, key, back)
    }
  }
  return returned
}

/**
 * Fractions of a micro-USD. One payment may be several gains; rounding each up would exceed what
 * was paid.
 */
const FINE = powerOfTen(12)

function fineWorth(amounts: ReadonlyMap<string, bigint>, prices: PriceBook): bigint {
  let worth = 0n
  for (const [token, amount] of amounts) {
    const unit = amount === 0n ? null : prices.unit(token)
    if (unit !== null) worth += fineValue(amount, unit)
  }
  return worth
}

function fineValue(amount: bigint, { price, priceDecimals, decimals }: UnitPrice): bigint {
  return (amount * price * MICROS_PER_USD_FINE) / powerOfTen(decimals + priceDecimals)
}

const MICROS_PER_USD_FINE = powerOfTen(6) * FINE

function gainsOf(gains: Map<Address, Map<string, bigint>>, party: Address): Map<string, bigint> {
  const known = gains.get(party)
  if (known !== undefined) return known
  const made = new Map<string, bigint>()
  gains.set(party, made)
  return made
}

function add(amounts: Map<string, bigint>, key: string, amount: bigint): void {
  amounts.set(key, (amounts.get(key) ?? 0n) + amount)
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
