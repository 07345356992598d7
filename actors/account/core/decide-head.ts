import type { Fees } from '../../../src/chains/fees.js'
import { selfSendGasLimit } from '../../../src/domain/gas-limits.js'
import { ID_PREFIX, type TxId, ulidBody } from '../../../src/domain/ids.js'
import { keccak256 } from '../../../src/domain/keccak.js'
import type { AccountTransaction } from '../../../src/domain/transaction.js'
import { pumpFlight } from './flight.js'
import { openGap } from './lane-nonces.js'
import type { HeadCommand, ReplacePurpose } from './messages.js'
import { pumpSigning } from './signing.js'
import {
  type AccountDraft,
  laneOf,
  type NonceLane,
  OPEN_MAX,
  type OpenEntry,
  REFUSALS_TO_CANCEL,
} from './state.js'
import { type AccountTurn, queuedDraft } from './turn.js'

/** A transaction that a node took is sent again after this many blocks, because pools forget. */
const RESEND_BLOCKS = 4
/**
 * The same by time, when the nodes that answer show no new blocks: a little over one block of
 * Ethereum.
 */
const RESEND_MS = 15_000
/** A transaction whose fee is too low for the next block is replaced after this many blocks. */
const STUCK_BLOCKS = 2
/**
 * A transaction that pays enough is replaced after this many blocks, because its tip must be too
 * low.
 */
const STUCK_ANYWAY_BLOCKS = 12
/**
 * The replacement waits at least this long, because the blocks of a pause arrive all at once. It is
 * twelve blocks of Arbitrum.
 */
const STUCK_ANYWAY_MS = 3_000
/**
 * The most free nonces that are listed by a node's answer at a time, and the widest gap below the
 * nonces handed out here that is closed by self-sends: four windows. A wider gap means that the
 * node reported a wrong nonce for the account; filling it would burn gas block after block, and
 * listing it would never end.
 */
const GAPS_MAX = 64
/** The widest gap that drops here can make: each of its nonces was open at the same time. */
const OWN_GAPS_MAX = OPEN_MAX
const UTF8 = new TextEncoder()

/**
 * Handles a new block and repairs the lane without an operator: sends unclear transactions again,
 * replaces stuck ones, fills gaps and notices nonces that were used from outside.
 */
export function onHead(turn: AccountTurn, command: HeadCommand): void {
  const { finalBlock, chainId } = command
  const lane = laneOf(turn.state, chainId)
  if (finalBlock !== null && finalBlock.blockHash !== lane.finalBlock?.blockHash) {
    turn.emit({ type: 'final-block', chainId, finalBlock })
  }
  let places = lane.window
  for (const txId of [...lane.flight]) {
    if (places-- === 0) break
    const entry = turn.state.open.get(txId)
    if (entry !== undefined) tend(turn, entry, command)
  }
  if (command.chainNonce !== null) findGaps(turn, lane, command.chainNonce)
  pumpFlight(turn, lane)
  pumpSigning(turn, lane)
  fillGap(turn, lane, command)
}

function tend(turn: AccountTurn, entry: OpenEntry, command: HeadCommand): void {
  const { tx, flight, sentAtBlock } = entry
  if (entry.replacing || flight === 'waiting' || flight === 'sending') return
  const overtaken = command.chainNonce !== null && tx.nonce < command.chainNonce
  const isCancelled = tx.attempts.at(-1)?.cancels === true
  if (flight === 'indeterminate' && entry.refusals >= REFUSALS_TO_CANCEL && !overtaken) {
    // A higher bid would not help a refused cancellation, so its bytes are sent again.
    if (isCancelled) resend(turn, entry)
    else replace(turn, entry, 'cancel', command)
    return
  }
  if (flight === 'indeterminate' || overtaken) {
    resend(turn, entry)
    return
  }
  if (flight === 'underpriced') {
    replace(turn, entry, 'bump', command)
    return
  }
  const { blockNumber, nowMs } = command
  if (sentAtBlock === null || blockNumber < sentAtBlock) {
    // The transaction was sent at a node that was ahead of those that answer now, which says
    // nothing about its age.
    turn.emit({ type: 'ages-from', txId: tx.txId, blockNumber })
  }
  const age = blockNumber - (entry.sentAtBlock ?? blockNumber)
  const heldBlocks = blockNumber - (entry.takenAtBlock ?? blockNumber)
  const heldMs = nowMs - entry.takenAtMs
  const newest = tx.attempts.at(-1)
  const { gasPriceWei } = command
  const tooCheap = newest !== undefined && gasPriceWei !== null && newest.maxFeePerGas < gasPriceWei
  const isStuck = tooCheap
    ? age >= STUCK_BLOCKS
    : age >= STUCK_ANYWAY_BLOCKS && nowMs - entry.sentAtMs >= STUCK_ANYWAY_MS
  if (isStuck) replace(turn, entry, 'bump', command)
  else if (heldBlocks >= RESEND_BLOCKS || heldMs >= RESEND_MS) resend(turn, entry)
}

/** Sends the same bytes again; "already known" counts as success. */
function resend(turn: AccountTurn, { tx }: OpenEntry): void {
  turn.emit({ type: 'sending', txId: tx.txId })
  const { finalBlock } = laneOf(turn.state, tx.call.chainId)
  turn.effect({ type: 'broadcast', tx, reach: 'all-nodes', finalBlock })
}

/** Replaces a transaction; a cancellation is replaced only by a cancellation. */
function replace(
  turn: AccountTurn,
  { tx }: OpenEntry,
  wanted: ReplacePurpose,
  { nowMs }: HeadCommand,
): void {
  const purpose = tx.attempts.at(-1)?.cancels === true ? 'cancel' : wanted
  turn.emit({ type: 'replacing', txId: tx.txId, on: true })
  turn.askToReplace(tx, purpose, nowMs)
}

/** Finds nonces between the chain's and ours that no transaction of ours occupies. */
function findGaps(turn: AccountTurn, lane: NonceLane, seenNonce: number): void {
  const { nextNonce, chainId } = lane
  const chainNonce = Math.max(seenNonce, lane.usedBelow)
  if (nextNonce === null || chainNonce >= nextNonce) return
  const taken = new Set<number>()
  for (const { tx } of turn.state.open.values())
    if (tx.call.chainId === chainId) taken.add(tx.nonce)
  for (const txId of lane.filling) {
    const entry = turn.state.drafts.get(txId)
    if (entry !== undefined) taken.add(entry.nonce)
  }
  const listed = new Set(lane.gaps)
  const nonces: number[] = []
  // Lists the lowest free nonces; a drop may have freed many at once.
  let free = 0
  for (let nonce = chainNonce; nonce < nextNonce && free < GAPS_MAX; nonce++) {
    if (taken.has(nonce)) continue
    free++
    if (!listed.has(nonce)) nonces.push(nonce)
    if (lane.gaps.length + nonces.length >= OWN_GAPS_MAX + GAPS_MAX) break
  }
  if (nonces.length > 0) turn.emit({ type: 'gaps-found', chainId, nonces })
}

/**
 * Closes a gap that no waiting send takes with an empty self-send; every transaction above it would
 * otherwise wait for ever.
 */
function fillGap(turn: AccountTurn, lane: NonceLane, { fees, nowMs }: HeadCommand): void {
  const { state } = turn
  const nonce = openGap(lane)
  const { wallet } = state
  if (nonce === undefined || fees === null || wallet === null) return
  if (lane.queued.some((txId) => turn.mayFill(queuedDraft(state, txId), nonce))) return
  const above = lane.flight.map((txId) => state.open.get(txId)).find((it) => it !== undefined)
  if (above === undefined || above.tx.nonce < nonce) return
  // A self-send takes a new nonce although it moves nothing, so a stop applies; the transactions
  // above continue once it is lifted.
  if (turn.whatStops(above.tx) !== null) return
  const claimed = Math.min(above.tx.nonce, lane.ownFrom) - nonce
  if (claimed > GAPS_MAX || above.tx.nonce - nonce > OWN_GAPS_MAX + GAPS_MAX) return
  const { chainId } = lane
  // Decisions use no randomness, and one block may open the same gap in many wallets within a
  // millisecond.
  const entropy = keccak256(UTF8.encode(`${state.accountId}:${chainId}:${nonce}`))
  const txId = (ID_PREFIX.tx + ulidBody(nowMs, entropy)) as TxId
  const draft: AccountDraft = {
    txId,
    requestId: txId,
    call: { chainId, to: wallet.address, value: 0n, data: '0x' },
    gasLimit: selfSendGasLimit(chainId),
    ...noHigherThan(above.tx, fees),
    token: null,
    createdAtMs: nowMs,
    signs: 'first-time',
  }
  turn.reserveSelfSend(draft, above.tx, nowMs)
  turn.emit({ type: 'queued', txId, screenedAgainst: [] })
  pumpSigning(turn, lane)
}

/**
 * Bounds the fees by those that the call above was first signed for: without a key the identity
 * provider approves no more. When the market asks for more, both transactions are replaced later.
 */
function noHigherThan({ attempts }: AccountTransaction, fees: Fees): Fees {
  const first = attempts[0]
  if (first === undefined || fees.maxFeePerGas <= first.maxFeePerGas) return fees
  const { maxFeePerGas } = first
  const fits = fees.maxPriorityFeePerGas < maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: fits ? fees.maxPriorityFeePerGas : maxFeePerGas }
}
