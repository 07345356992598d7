import { laneOf } from '../../account/core/state.js'
import { end, isEmpty, proceed } from './decide-delegation.js'
import { syncLane } from './sponsored-call.js'
import type { SponsoredCommand } from './sponsored-messages.js'
import type { Turn } from './turn.js'

type Of<T extends SponsoredCommand['type']> = Extract<SponsoredCommand, { type: T }>

/**
 * An account that has made no sponsored call for long ends its delegation, so that it may send several
 * transactions at a time again; the next sponsored call delegates it anew. The authorization of
 * nobody (EIP-7702) takes a nonce of the lane like the first one did, so it begins where nothing of
 * the account is under way. Who asks asks again: what is not done now costs nothing.
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
  // Below it lies what a node that lags does not know, or above it what was sent from outside.
  if (nonce === null || nonce !== account.chainNonce || turn.keptFor(chainId, nonce) !== null)
    return
  turn.emit({ type: 'delegation-ending', chainId, atMs: nowMs })
  if (!account.delegated) {
    end(turn, lane, 'undelegated', nonce)
    return
  }
  turn.effect({ type: 'end-delegation', chainId, account: state.wallet.address, nonce })
}

function isSponsoring({ state }: Turn, chainId: number): boolean {
  for (const entry of state.sponsored.values()) if (entry.chainId === chainId) return true
  return false
}

/**
 * A gas wallet tells, or whoever asked for the signature. After a start nothing here knows of a
 * transaction that a gas wallet goes on with: once it is over, the chain is asked all the same.
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
    turn.emit({ type: 'delegation-ending', chainId, atMs: null })
  } else if (phase !== 'ending') return
  turn.effect({ type: 'check-delegation', chainId, account: state.wallet.address, minedAt })
}
