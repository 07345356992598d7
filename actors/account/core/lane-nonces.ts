import type { TxId } from '../../../src/domain/ids.js'
import { isFinal } from '../../../src/domain/transaction.js'
import { type AccountState, laneOf, type NonceLane, type OpenEntry } from './state.js'

/** Which nonces of a lane are occupied, free or to be closed, as `evolve` keeps them. */

export function joinFlight(state: AccountState, entry: OpenEntry): NonceLane {
  const lane = laneOf(state, entry.tx.call.chainId)
  if (isFinal(entry.tx.status) || lane.flight.includes(entry.tx.txId)) return lane
  let at = lane.flight.length
  while (at > 0 && nonceAt(state, lane, at - 1) > entry.tx.nonce) at--
  lane.flight.splice(at, 0, entry.tx.txId)
  return lane
}

/** A reorg gave the nonce back, and perhaps those below it that nothing of ours is known to have used. */
export function forgetUse(
  { drafts }: Pick<AccountState, 'drafts'>,
  lane: NonceLane,
  nonce: number,
): void {
  const filling = lane.filling.map((txId) => drafts.get(txId)?.nonce ?? nonce)
  lane.usedBelow = Math.min(lane.usedBelow, nonce, lane.gaps[0] ?? nonce, ...filling)
}

/**
 * The lowest gap that something could close; undefined where there is none. What lies below a nonce that
 * a block has of ours is used by whatever it was, until a reorg: nothing may wait for it to be closed.
 */
export function openGap({ gaps, usedBelow }: NonceLane): number | undefined {
  return gaps.find((nonce) => nonce >= usedBelow)
}

function nonceAt(state: AccountState, lane: NonceLane, index: number): number {
  const txId = lane.flight[index]
  return (txId === undefined ? undefined : state.open.get(txId)?.tx.nonce) ?? -1
}

/** A nonce that a node called free while what occupies it was being read from the store. */
export function takeAgain(lane: NonceLane, nonce: number): void {
  lane.gaps = lane.gaps.filter((gap) => gap !== nonce)
  // Nothing moves while anything is being signed above; that has it then, and the ledger decides.
  if (lane.nextNonce !== null && lane.signing.length === 0) {
    lane.nextNonce = Math.max(lane.nextNonce, nonce + 1)
  }
}

/** A nonce nothing occupies any more: the newest is handed out again, others become gaps. */
export function freeNonce(lane: NonceLane, nonce: number): void {
  if (lane.nextNonce === null) return
  lane.gaps = ascending([...lane.gaps, nonce])
  trimGaps(lane)
}

export function trimGaps(lane: NonceLane): void {
  if (lane.nextNonce === null) return
  // While anything is being signed above, its nonce must not move.
  while (lane.signing.length === 0 && lane.gaps.at(-1) === lane.nextNonce - 1) {
    if (lane.nextNonce <= lane.usedBelow) break
    lane.gaps.pop()
    lane.nextNonce--
  }
  lane.ownFrom = Math.min(lane.ownFrom, lane.nextNonce)
}

/**
 * Where the lane goes on without its drafts: before what is free or being filled at its end. The
 * store has it so, since a restart knows neither of drafts nor of gaps, and would leave them open.
 */
export function withoutDrafts(
  { drafts }: Pick<AccountState, 'drafts'>,
  lane: NonceLane,
): Pick<NonceLane, 'nextNonce' | 'ownFrom'> {
  const { gaps, filling, ownFrom } = lane
  let { nextNonce } = lane
  if (nextNonce === null || gaps.length + filling.length === 0) return lane
  const free = new Set(gaps)
  for (const txId of filling) free.add(drafts.get(txId)?.nonce ?? -1)
  while (free.has(nextNonce - 1)) nextNonce--
  return { nextNonce, ownFrom: Math.min(ownFrom, nextNonce) }
}

/** The lane goes on at a nonce that a node names. */
export function goOnAt(lane: NonceLane, nextNonce: number | null): void {
  if (nextNonce !== null && nextNonce !== lane.nextNonce) lane.ownFrom = nextNonce
  lane.nextNonce = nextNonce
}

export function without(ids: readonly TxId[], gone: TxId): TxId[] {
  return ids.includes(gone) ? ids.filter((id) => id !== gone) : (ids as TxId[])
}

export function ascending(nonces: readonly number[]): number[] {
  return [...new Set(nonces)].sort((a, b) => a - b)
}
