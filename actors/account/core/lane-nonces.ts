import type { TxId } from '../../../src/domain/ids.js'
import { isFinal } from '../../../src/domain/transaction.js'
import { type AccountState, laneOf, type NonceLane, type OpenEntry } from './state.js'

/** Keeps which nonces of a lane are occupied, free or to be closed; used by `evolve`. */

export function joinFlight(state: AccountState, entry: OpenEntry): NonceLane {
  const lane = laneOf(state, entry.tx.call.chainId)
  if (isFinal(entry.tx.status) || lane.flight.includes(entry.tx.txId)) return lane
  let at = lane.flight.length
  while (at > 0 && nonceAt(state, lane, at - 1) > entry.tx.nonce) at--
  lane.flight.splice(at, 0, entry.tx.txId)
  return lane
}

/**
 * Frees a nonce after a reorg, and those below it that no transaction of ours is known to have
 * used.
 */
export function forgetUse(
  { drafts }: Pick<AccountState, 'drafts'>,
  lane: NonceLane,
  nonce: number,
): void {
  const filling = lane.filling.map((txId) => drafts.get(txId)?.nonce ?? nonce)
  lane.usedBelow = Math.min(lane.usedBelow, nonce, lane.gaps[0] ?? nonce, ...filling)
}

/**
 * The lowest gap that can be closed, or undefined. A nonce below one that a block has of ours is
 * used by some transaction until a reorg, so nothing may wait for it to be closed.
 */
export function openGap({ gaps, usedBelow }: NonceLane): number | undefined {
  return gaps.find((nonce) => nonce >= usedBelow)
}

function nonceAt(state: AccountState, lane: NonceLane, index: number): number {
  const txId = lane.flight[index]
  return (txId === undefined ? undefined : state.open.get(txId)?.tx.nonce) ?? -1
}

/** Occupies a nonce that a node called free while its transaction was being read from the store. */
export function takeAgain(lane: NonceLane, nonce: number): void {
  lane.gaps = lane.gaps.filter((gap) => gap !== nonce)
  // The next nonce must not move while a draft above is being signed; that draft may have this
  // nonce then, and the ledger of approvals decides.
  if (lane.nextNonce !== null && lane.signing.length === 0) {
    lane.nextNonce = Math.max(lane.nextNonce, nonce + 1)
  }
}

/** Frees a nonce: the newest is handed out again, others become gaps. */
export function freeNonce(lane: NonceLane, nonce: number): void {
  if (lane.nextNonce === null) return
  lane.gaps = ascending([...lane.gaps, nonce])
  trimGaps(lane)
}

export function trimGaps(lane: NonceLane): void {
  if (lane.nextNonce === null) return
  // The next nonce must not move while a draft above is being signed.
  while (lane.signing.length === 0 && lane.gaps.at(-1) === lane.nextNonce - 1) {
    if (lane.nextNonce <= lane.usedBelow) break
    lane.gaps.pop()
    lane.nextNonce--
  }
  lane.ownFrom = Math.min(lane.ownFrom, lane.nextNonce)
}

/**
 * Where the lane continues without its drafts: before the free nonces and those being filled at its
 * end. The store has this form, since a restart knows neither drafts nor gaps and would leave those
 * nonces open.
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

/** Continues the lane at a nonce that a node reports. */
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
