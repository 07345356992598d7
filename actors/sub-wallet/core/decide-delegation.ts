import { pumpFlight } from '../../account/core/flight.js'
import { openGap } from '../../account/core/lane-nonces.js'
import { pumpSigning } from '../../account/core/signing.js'
import { laneOf, type NonceLane } from '../../account/core/state.js'
import { callOf } from './sponsored-call.js'
import type { SponsoredCommand, SponsoredEvent } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import type { Turn } from './turn.js'

type Of<T extends SponsoredCommand['type']> = Extract<SponsoredCommand, { type: T }>

/**
 * Moves the screened sponsored calls of a chain on to signing. When the account is not delegated
 * yet, the first call carries the authorization, once the lane is empty. If an own send were mined
 * first, the authorization would be skipped and the sponsored call would revert; if the
 * authorization were mined before an own send with the same nonce, that send would be lost.
 */
export function proceed(turn: Turn, chainId: number): void {
  const { state } = turn
  for (const entry of [...state.sponsored.values()]) {
    if (entry.chainId !== chainId || entry.phase !== 'waiting') continue
    if (isRefused(turn, entry)) continue
    const delegation = state.delegations.get(chainId)
    if (delegation?.phase === 'pending') askFor(turn, entry, delegation.authorization)
    else if (!entry.needsDelegation && delegation === undefined) askFor(turn, entry, null)
    else if (delegation === undefined) turn.emit({ type: 'delegation-wanted', chainId })
  }
  lead(turn, chainId)
}

/** Checks draining delegations after every command, because any command can empty a lane. */
export function advanceDelegations(turn: Turn): void {
  const { delegations } = turn.state
  if (delegations.size === 0) return
  for (const [chainId, { phase }] of delegations) {
    if (phase === 'draining') lead(turn, chainId)
  }
}

function lead(turn: Turn, chainId: number): void {
  const { state } = turn
  if (state.delegations.get(chainId)?.phase !== 'draining') return
  const lane = laneOf(state, chainId)
  let first: SponsoredEntry | null = null
  for (const entry of [...state.sponsored.values()]) {
    const waits = entry.chainId === chainId && entry.phase === 'waiting'
    if (waits && !isRefused(turn, entry)) {
      first = entry
      break
    }
  }
  if (first === null) {
    end(turn, lane, 'not-delegated', lane.nextNonce)
    return
  }
  if (!isEmpty(lane) || lane.nextNonce === null) return
  if (turn.keptFor(chainId, lane.nextNonce) !== null) return
  turn.emit({ type: 'delegation-led', chainId, txId: first.txId })
  askFor(turn, first, { nonce: lane.nextNonce })
}

export function isEmpty(lane: NonceLane): boolean {
  const { signing, filling, flight } = lane
  return signing.length + filling.length + flight.length === 0 && openGap(lane) === undefined
}

/**
 * Answers the caller with a refusal when the call is frozen or its key has ended.
 * @returns whether it did
 */
function isRefused(turn: Turn, { txId, draft, token, screenedAgainst }: SponsoredEntry): boolean {
  const stopped =
    draft === null ? null : (turn.freezeFault(draft.lineageId) ?? turn.endedFault(draft.keyId))
  if (draft === null || stopped === null) return false
  turn.emit({ type: 'sponsored-released', txId })
  turn.refuseSend(token, stopped, callOf(draft), screenedAgainst)
  return true
}

function askFor(
  turn: Turn,
  { txId, chainId, draft }: SponsoredEntry,
  authorization: Extract<
    Turn['effects'][number],
    { readonly type: 'sign-intent' }
  >['authorization'],
): void {
  if (draft === null) throw new Error(`${txId} waits without a draft`)
  const counted = turn.state.intentNonces.get(chainId) ?? 0
  const intentNonce = draft.approval === undefined ? counted : null
  turn.emit({ type: 'sponsored-signing', txId, intentNonce })
  turn.effect({ type: 'sign-intent', draft, intentNonce, authorization })
}

/** Handles the chain's answer on whether the account is delegated. */
export function delegationChecked(turn: Turn, command: Of<'delegation-checked'>): void {
  const { chainId, delegated, chainNonce } = command
  const phase = turn.state.delegations.get(chainId)?.phase
  if (phase !== 'pending' && phase !== 'ending') return
  const lane = laneOf(turn.state, chainId)
  const nextNonce = Math.max(lane.nextNonce ?? 0, chainNonce)
  const otherwise = phase === 'ending' ? 'undelegated' : 'not-delegated'
  end(turn, lane, delegated ? 'delegated' : otherwise, nextNonce)
  proceed(turn, chainId)
}

/**
 * Drops a pending delegation when nothing under way carries its authorization. Someone may still
 * hold the authorization; if it is ever mined, the lane finds its nonce used and continues with the
 * next.
 */
export function dropOrphanedDelegation(turn: Turn, chainId: number): void {
  const { state } = turn
  if (state.delegations.get(chainId)?.phase !== 'pending') return
  for (const { sponsorship, phase } of state.sponsored.values()) {
    const carried = sponsorship !== null && sponsorship.authorization !== null && phase !== 'held'
    if (carried && sponsorship.chainId === chainId) return
  }
  const lane = laneOf(state, chainId)
  end(turn, lane, 'not-delegated', lane.nextNonce)
  proceed(turn, chainId)
}

export function end(
  turn: Turn,
  lane: NonceLane,
  outcome: Extract<SponsoredEvent, { type: 'delegation-ended' }>['outcome'],
  nextNonce: number | null,
): void {
  turn.emit({ type: 'delegation-ended', chainId: lane.chainId, outcome, nextNonce })
  pumpFlight(turn, lane)
  pumpSigning(turn, lane)
}
