import type { ChainAccess } from '../chains/access.js'
import type { Simulation } from '../chains/simulate/simulation.js'
import type { TokenConfig } from '../config/chains.js'
import { tokenMoveOf } from '../domain/erc20-transfer.js'
import { type Fault, fault } from '../errors/fault.js'
import type { ChainView } from './chain-view.js'
import type { QuotedCall } from './quoter.js'

/**
 * Tokens such as ZRX, BAT and EURS return false instead of reverting: the transaction succeeds and
 * moves nothing. A simulation shows that before it costs anything.
 */

const REASON =
  'the transfer moves nothing: the token returns false instead of reverting, as it does when the balance is too low or the recipient is refused'

/** @returns why a transfer that succeeds and moves nothing is refused, or null */
export async function movedNothing(
  { chain, isConfigured }: ChainView,
  call: QuotedCall,
  simulation: Simulation | null,
): Promise<Fault | null> {
  if (simulation === null || !simulation.success || simulation.truncated) return null
  if (call.value > 0n) return null
  const move = tokenMoveOf(call.from, call.data)
  if (move === null || move.amount === 0n || hasMoved(move.payer, simulation)) return null
  // In an ERC-721 contract the same selector transfers a token id, and its log has another form.
  const isToken = isConfigured(call.to.toLowerCase()) || (await hasDecimals(chain, call))
  return isToken ? fault('SIMULATION_REVERTED', { reason: REASON }) : null
}

async function hasDecimals({ reads }: ChainAccess, { to }: QuotedCall): Promise<boolean> {
  return (await reads.tokenMetadata(to)) !== null
}

/** A replaced token may forward the call to its successor, which logs the transfer. */
function hasMoved(payer: string, { transfers }: Simulation): boolean {
  return transfers.some(({ token, from }) => token !== null && from.toLowerCase() === payer)
}

/** How long a token that no node could simulate is not simulated again. */
const UNSEEN_PAUSE_MS = 60_000

/**
 * Plain transfers are valued by their calldata, without a node. To keep this safe, a token is
 * simulated until one of its transfers was seen to move, and never again in that thread. A token
 * that moved once may still return false later: then its receipt gives the spend back (`spentBy`).
 */
interface FirstTransferChecks {
  /** @returns null at once for a token that was seen to move */
  before(view: ChainView, call: QuotedCall, token: TokenConfig): Promise<Fault | null> | null
}

export function createFirstTransferChecks(
  nowMs: () => number = () => performance.now(),
): FirstTransferChecks {
  /** Until when a token is not simulated; for ever once it was seen to move. */
  const restsUntilMs = new WeakMap<TokenConfig, number>()

  async function check(view: ChainView, call: QuotedCall, token: TokenConfig) {
    // A node that cannot simulate now must not stop a transfer that is valued without one.
    const simulation = await view.chain.simulator.simulate(call).catch(() => null)
    if (simulation === null) restsUntilMs.set(token, nowMs() + UNSEEN_PAUSE_MS)
    else if (simulation.success && hasMoved(call.from.toLowerCase(), simulation)) {
      restsUntilMs.set(token, Number.POSITIVE_INFINITY)
    }
    return movedNothing(view, call, simulation)
  }

  return {
    before(view, call, token) {
      const until = restsUntilMs.get(token)
      return until !== undefined && nowMs() < until ? null : check(view, call, token)
    },
  }
}
