import { keyStatus } from '../../src/domain/api-key.js'
import type { TxId } from '../../src/domain/ids.js'
import { formatUsd } from '../../src/domain/money.js'
import { type CapBreach, capBreach, type Reservation } from '../../src/domain/spend.js'
import { type Fault, fault } from '../../src/errors/fault.js'
import { IDEMPOTENCY_TTL_MS } from '../../src/store/records.js'
import type { ReplyToken } from '../runtime/actor.js'
import type { PreparedSend } from './messages.js'
import {
  countersOf,
  type Draft,
  laneOf,
  OPEN_MAX,
  runningKey,
  type SubWalletState,
  WINDOW_DELEGATED,
  WINDOW_PLAIN,
} from './state.js'
import type { Turn } from './turn.js'

/** The same call again within this time looks like a retry (API.md, DUPLICATE_SUSPECTED). */
const DUPLICATE_WINDOW_MS = 10_000

/**
 * Steps 1 and 2 of the lifecycle inside the actor: the key as it is now, then the caps. The check
 * and the reservation are one synchronous step, so racing sends can never pass a cap together.
 */
export function admitSend(turn: Turn, command: PreparedSend, token: ReplyToken | null): void {
  const { state } = turn
  const { nowMs, chainId, quote } = command
  const key = state.keys.get(command.keyId)
  if (state.wallet === null || key === undefined || keyStatus(key, nowMs) === 'revoked') {
    turn.refuse(token, fault('INVALID_KEY'))
    return
  }
  if (key.permission !== 'trade') {
    turn.refuseSend(token, fault('PERMISSION_DENIED'), command)
    return
  }
  if (!key.allowedChains.includes(chainId)) {
    turn.refuseSend(token, fault('CHAIN_NOT_ALLOWED', { chain_id: chainId }), command)
    return
  }
  const { lineageId } = key
  if (command.idempotency !== null) {
    const { first } = command
    if (first !== null && nowMs < first.record.createdAtMs + IDEMPOTENCY_TTL_MS) {
      if (first.record.bodyHash !== command.idempotency.bodyHash) {
        turn.refuse(token, fault('IDEMPOTENCY_KEY_REUSED'))
      } else turn.answer(token, { tx: first.tx, replayed: true })
      return
    }
    const running = state.running.get(runningKey(lineageId, command.idempotency.key))
    if (running !== undefined) {
      answerAgain(turn, running, command.idempotency.bodyHash, token)
      return
    }
  } else if (key.duplicateGuard === 'on') {
    const twin = findTwin(state, command)
    if (twin !== null) {
      turn.refuseSend(token, fault('DUPLICATE_SUSPECTED', { tx_id: twin }), command)
      return
    }
  }
  if (state.drafts.size + state.open.size >= OPEN_MAX) {
    turn.refuse(token, fault('OVERLOADED', { open_transactions_max: OPEN_MAX }))
    return
  }
  if (!quote.ok) {
    turn.refuseSend(token, quote.fault, command)
    return
  }
  if (quote.unpriced && key.unpricedAssets === 'deny') {
    turn.refuseSend(token, fault('PRICE_UNAVAILABLE', { chain_id: chainId }), command)
    return
  }
  const { valuation } = quote
  const micros = valuation.valueMicros + valuation.gasMicros
  const counters = countersOf(state, lineageId, nowMs)
  const breach = capBreach(counters, key, micros)
  if (breach !== null) {
    turn.refuseSend(token, limitFault(breach), command)
    return
  }
  const reservation: Reservation = { micros, day: counters.day, month: counters.month }
  const draft: Draft = {
    txId: command.txId,
    requestId: command.requestId,
    keyId: command.keyId,
    lineageId,
    chainId,
    kind: command.kind,
    to: command.to,
    value: command.value,
    data: command.data,
    gasLimit: quote.gasLimit,
    ...quote.fees,
    valuation,
    reservation,
    problem: quote.problem,
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

/** The first request with this Idempotency-Key is a draft, or a transaction that is still open. */
function answerAgain(turn: Turn, txId: TxId, bodyHash: string, token: ReplyToken | null): void {
  const open = turn.state.open.get(txId)
  const first = open?.idempotency ?? turn.state.drafts.get(txId)?.draft.idempotency ?? null
  if (first !== null && first.bodyHash !== bodyHash) {
    turn.refuse(token, fault('IDEMPOTENCY_KEY_REUSED'))
  } else if (open === undefined || open.token !== null) {
    turn.refuse(token, fault('IDEMPOTENCY_IN_PROGRESS', { tx_id: txId }))
  } else turn.answer(token, { tx: open.tx, replayed: true })
}

/** A transaction with the same chain, to, data and value that is young and not final. */
function findTwin(state: SubWalletState, command: PreparedSend): TxId | null {
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

function limitFault(breach: CapBreach): Fault {
  const limit = formatUsd(breach.limitMicros)
  const left = breach.limitMicros - breach.usedMicros
  return fault(
    'LIMIT_EXCEEDED',
    {
      period: breach.period,
      limit_usd: limit,
      used_usd: formatUsd(breach.usedMicros),
      reserved_usd: formatUsd(breach.reservedMicros),
      requested_usd: formatUsd(breach.requestedMicros),
      resets_at: new Date(breach.resetsAtMs).toISOString(),
    },
    `The request would exceed the ${breach.period} cap of ${limit} USD; ${formatUsd(left > 0n ? left : 0n)} USD are left.`,
  )
}
