import { laneOf } from '../../account/core/state.js'
import { end, isEmpty, proceed } from './decide-delegation.js'
import { gasLack } from './gas-budget-gate.js'
import { syncLane } from './sponsored-call.js'
import type { SponsoredCommand } from './sponsored-messages.js'
import type { Turn } from './turn.js'

type Of<T extends SponsoredCommand['type']> = Extract<SponsoredCommand, { type: T }>

/**
 * Ends the delegation of an account that has made no sponsored call for a long time, so that it may
 * have several transactions in flight again; the next sponsored call delegates it again. The
 * authorization for the zero address (EIP-7702) takes a nonce of the lane like the first one, so it
 * starts only when nothing of the account is under way. The sweep repeats its request, so a skipped
 * attempt costs nothing.
 */
export function undelegate(turn: Turn, command: Of<'prepared-undelegate'>): void {
  const { state } = turn
  const { chainId, idleSinceMs, account, nowMs } = command
  const lastMs = state.lastSponsoredMs.get(chainId)
  if (account === null || state.wallet === null || lastMs === undefined) return
  if (lastMs > idleSinceMs || isSponsoring(turn, chainId) || state.delegations.has(chainId)) return
  syncLane(turn, chainId, account.chainNonce)
  const lane = laneOf(state, chainId)
  const { nextNonce: nonce } = lane
  if (!isEmpty(lane) || lane.queued.length + lane.line.length > 0) return
  // A lower nonce is unknown to a node that lags; a higher one was used from outside.
  if (nonce === null || nonce !== account.chainNonce || turn.keptFor(chainId, nonce) !== null)
    return
  const { delegated, gasWei } = account
  const gasMicros = delegated ? account.gasMicros : 0n
  // The sweep repeats its request, and no caller waits for it.
  if (gasLack(state, gasMicros, nowMs) !== null) return
  turn.emit({ type: 'delegation-ending', chainId, atMs: nowMs, gasMicros })
  if (!delegated) {
    end(turn, lane, 'undelegated', nonce)
    return
  }
  turn.effect({ type: 'end-delegation', chainId, account: state.wallet.address, nonce, gasWei })
}

function isSponsoring({ state }: Turn, chainId: number): boolean {
  for (const entry of state.sponsored.values()) if (entry.chainId === chainId) return true
  return false
}

/**
 * Handles a report of the gas wallet or of the effect that asked for the signature. After a restart
 * this actor does not know of a transaction that a gas wallet still carries; once it is over, the
 * chain is asked all the same.
 */
export function undelegationUpdate(
  turn: Turn,
  { chainId, stage, minedAt }: Of<'undelegation-update'>,
): void {
  const { state } = turn
  const phase = state.delegations.get(chainId)?.phase
  if (state.wallet === null || stage === 'open') return
  const lane = laneOf(state, chainId)
  if (stage === 'refused') {
    if (phase !== 'ending') return
    end(turn, lane, 'delegated', lane.nextNonce)
    proceed(turn, chainId)
    return
  }
  if (phase === undefined) {
    const isKnown = state.lastSponsoredMs.has(chainId) && !isSponsoring(turn, chainId)
    if (!isKnown || !isEmpty(lane)) return
    turn.emit({ type: 'delegation-ending', chainId, atMs: null, gasMicros: 0n })
  } else if (phase !== 'ending') return
  turn.effect({ type: 'check-delegation', chainId, account: state.wallet.address, minedAt })
}
