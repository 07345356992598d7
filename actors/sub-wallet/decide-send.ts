import type { TxId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import type { ReplyToken } from '../runtime/actor.js'
import { admit } from './admission.js'
import type { PreparedSend } from './messages.js'
import { type Draft, laneOf, type SubWalletState, WINDOW_DELEGATED, WINDOW_PLAIN } from './state.js'
import type { Turn } from './turn.js'

/** The same call again within this time looks like a retry (API.md, DUPLICATE_SUSPECTED). */
const DUPLICATE_WINDOW_MS = 10_000

/** Steps 1 and 2 of the lifecycle for a send; what is admitted goes to the screening. */
export function admitSend(turn: Turn, command: PreparedSend, token: ReplyToken | null): void {
  const { state } = turn
  const { nowMs, chainId, quote } = command
  const findTwin = () => twinOf(state, command)
  const admitted = admit(turn, { ...command, call: command, findTwin }, token)
  if (admitted === null || !quote.ok) return
  const { key, reservation } = admitted
  const draft: Draft = {
    txId: command.txId,
    requestId: command.requestId,
    keyId: command.keyId,
    lineageId: key.lineageId,
    chainId,
    kind: command.kind,
    to: command.to,
    value: command.value,
    data: command.data,
    gasLimit: quote.gasLimit,
    ...quote.fees,
    valuation: quote.valuation,
    reservation,
    problem: quote.problem,
    forecast: quote.forecast,
    proofKey: command.proofKey,
    idempotency: command.idempotency,
    token,
    createdAtMs: nowMs,
    booking: 'drafted',
  }
  if (command.chainNonce === null && laneOf(state, chainId).nextNonce === null) {
    turn.refuseSend(token, fault('CHAIN_UNAVAILABLE', { chain_id: chainId }), command)
    return
  }
  syncLane(turn, chainId, command.chainNonce, quote.accountHasCode)
  turn.emit({ type: 'reserved', draft })
  turn.effect({ type: 'screen', draft })
}

/** A lane starts at the chain's nonce, and follows it when the account was used from outside. */
function syncLane(turn: Turn, chainId: number, chainNonce: number | null, hasCode: boolean): void {
  const lane = laneOf(turn.state, chainId)
  const window = hasCode ? WINDOW_DELEGATED : WINDOW_PLAIN
  const idle = lane.signing.length === 0 && lane.flight.length === 0
  const behind = chainNonce !== null && idle && (lane.nextNonce ?? -1) < chainNonce
  if (!behind && lane.window === window) return
  const nextNonce = behind ? chainNonce : lane.nextNonce
  turn.emit({ type: 'lane-synced', chainId, nextNonce, window })
}

/** A transaction with the same chain, to, data and value that is young and not final. */
function twinOf(state: SubWalletState, command: PreparedSend): TxId | null {
  const since = command.nowMs - DUPLICATE_WINDOW_MS
  const same = (it: Pick<Draft, 'chainId' | 'to' | 'data' | 'value' | 'createdAtMs'>) =>
    it.createdAtMs > since &&
    it.chainId === command.chainId &&
    it.value === command.value &&
    it.to === command.to &&
    it.data === command.data
  for (const { draft } of state.drafts.values()) if (same(draft)) return draft.txId
  for (const { tx } of state.open.values()) if (same(tx)) return tx.txId
  return null
}
