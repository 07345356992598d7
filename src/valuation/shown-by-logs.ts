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
 * What others get by a call and are let take, beyond what the wallet pays them: as far as logs
 * tell, which is all that a receipt has. It is asked of the run that a call was valued by and of
 * its receipt, so that what logs leave out is the same in both and cancels out.
 *
 * What the wallet itself pays is not in it: all that can be taken from it by allowances, by its
 * words or with the call counts before it is signed, or did when it was approved.
 * @param supplies by lower-case token: nobody can be let take more than there is
 */
export function shownByLogs(
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
 * What of a run's logs was foreseen. Others may hand one another tokens for native currency, which
 * logs do not show: what looks like a gain there was none, and was not counted. All of that would
 * hide as much in the receipt that is one. What the wallet itself pays may change its form on the
 * way, and shows twice then.
 * @param others what the call counted of the same run
 */
export function foreseenByLogs(
  shownMicros: UsdMicros,
  { countedMicros, paidMicros }: Outflow['others'],
): UsdMicros {
  const most = countedMicros + paidMicros
  return shownMicros < most ? shownMicros : most
}

/**
 * Native currency leaves no logs but where it is wrapped and unwrapped, and where the call itself
 * brings it: without these, wrapping would look like money from nowhere.
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
