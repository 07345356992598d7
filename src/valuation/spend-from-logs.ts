import { getAddress } from 'viem/utils'
import type { SimulatedTransfer, Simulation } from '../chains/simulate/simulation.js'
import { ZERO_ADDRESS } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import type { ChainView } from './chain-view.js'
import { type Outflow, openedByOthers } from './outflow.js'
import type { PriceBook } from './price-book.js'
import type { QuotedCall } from './quoter.js'
import { gainedByOthers } from './third-parties.js'

type LoggedCall = Pick<QuotedCall, 'from' | 'to' | 'data' | 'value'>
type Seen = Pick<Simulation, 'transfers' | 'approvals'>

/**
 * What others receive and may take by a call, beyond what the wallet pays them, according to its
 * logs, which are all that a receipt has. It is computed for the simulation that a call was valued
 * by and for its receipt, so that what logs leave out is the same in both and cancels out.
 *
 * What the wallet itself pays is not included: everything that can be taken from it by allowances,
 * by its calldata or with the call counts before it is signed, or counted when the allowance was
 * given.
 * @param supplies by lower-case token: no spender can take more than the supply
 */
export function spendFromLogs(
  { chain }: Pick<ChainView, 'chain'>,
  call: LoggedCall,
  seen: Seen | null,
  supplies: ReadonlyMap<string, bigint>,
  prices: PriceBook,
): UsdMicros {
  if (seen === null) return 0n
  const flows = loggedFlows(call, seen.transfers, chain.config.wrapped_native.toLowerCase())
  let shown = gainedByOthers(call.from, flows, prices)
  for (const [token, amount] of openedByOthers(call, seen).amounts) {
    const supply = supplies.get(token)
    const takeable = supply !== undefined && supply < amount ? supply : amount
    shown += prices.token(token, takeable) ?? 0n
  }
  return shown
}

/**
 * The part of a simulation's logs that was predicted spend. Others may exchange tokens for native
 * currency, which logs do not show: what looks like a gain was none and was not counted. Keeping it
 * would hide the same amount in the receipt when it is a real gain. What the wallet itself pays may
 * change its form on the way, and then shows twice.
 * @param others what the call counted of the same simulation
 */
export function predictedFromLogs(
  shownMicros: UsdMicros,
  { countedMicros, paidMicros }: Outflow['others'],
): UsdMicros {
  const most = countedMicros + paidMicros
  return shownMicros < most ? shownMicros : most
}

/**
 * Adds the native flows that logs show: native currency leaves no logs except when it is wrapped or
 * unwrapped, and when the call itself brings it. Without these, wrapping would look like money from
 * nowhere.
 */
function loggedFlows(
  { from: wallet, to, value }: LoggedCall,
  transfers: readonly SimulatedTransfer[],
  wrappedNative: string,
): readonly SimulatedTransfer[] {
  const flows: SimulatedTransfer[] = []
  if (value > 0n) {
    flows.push({ token: null, from: wallet, to: getAddress(to), amount: value, kind: 'native' })
  }
  for (const transfer of transfers) {
    if (transfer.kind !== 'erc20') continue
    flows.push(transfer)
    const { token, from, to: payee, amount } = transfer
    if (token === null || token.toLowerCase() !== wrappedNative) continue
    // What the wallet itself wraps came with the call.
    const native = { token: null, amount, kind: 'native' } as const
    if (from === ZERO_ADDRESS && payee !== wallet) flows.push({ ...native, from: payee, to: token })
    else if (payee === ZERO_ADDRESS) flows.push({ ...native, from: token, to: from })
  }
  return flows
}
