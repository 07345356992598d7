import { type ApiKey, keyStatus } from '../../../src/domain/api-key.js'
import {
  approvalThatFits,
  type CreditAmount,
  type Exposure,
  type Spend,
  spendOf,
} from '../../../src/domain/exposure.js'
import { IDEMPOTENCY_TTL_MS } from '../../../src/domain/idempotency.js'
import type { KeyId, TxId } from '../../../src/domain/ids.js'
import { isoTime } from '../../../src/domain/iso-time.js'
import { formatUsd } from '../../../src/domain/money.js'
import {
  type CapBreach,
  capBreach,
  type Reservation,
  type SpendCounters,
} from '../../../src/domain/spend.js'
import type { Valuation } from '../../../src/domain/transaction.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { Forecast } from '../../../src/valuation/quoter.js'
import { OPEN_MAX } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { creditsOf } from './credits.js'
import { limitsHit } from './limit-crossings.js'
import type { PreparedSend, RefusedCall } from './messages.js'
import { Sent } from './sent.js'
import { countersOf, runningKey, type SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/** A call that moves value, as the first two steps of the lifecycle see it. */
export interface Admission {
  readonly keyId: KeyId
  readonly chainId: number
  readonly nowMs: number
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  readonly first: PreparedSend['first']
  readonly quote:
    | {
        readonly ok: true
        readonly valuation: Valuation
        readonly exposure?: Exposure | null
        readonly unpriced: boolean
        readonly forecast?: Pick<Forecast, 'after'>
      }
    | { readonly ok: false; readonly fault: Fault }
  /** For the audit trail. */
  readonly call: RefusedCall
  /** The same call again, young and not final. */
  readonly findTwin: () => TxId | null
}

export interface Admitted {
  readonly key: ApiKey
  readonly reservation: Reservation
  readonly valuation: Valuation
  /** Null where no allowance has to do with it. */
  readonly paid: Spend | null
}

/**
 * Steps 1 and 2 of the lifecycle inside the actor: the key as it is now, then the caps. The check
 * and the reservation are one synchronous step, so racing calls can never pass a cap together.
 * @returns null when the caller has been answered
 */
export function admit(turn: Turn, asked: Admission, token: ReplyToken | null): Admitted | null {
  const { state } = turn
  const { nowMs, chainId, quote } = asked
  const key = state.keys.get(asked.keyId)
  if (state.wallet === null || key === undefined || keyStatus(key, nowMs) === 'revoked') {
    turn.refuse(token, fault('INVALID_KEY'))
    return null
  }
  if (key.permission !== 'trade') {
    turn.refuseSend(token, fault('PERMISSION_DENIED'), asked.call)
    return null
  }
  if (!key.allowedChains.includes(chainId)) {
    turn.refuseSend(token, fault('CHAIN_NOT_ALLOWED', { chain_id: chainId }), asked.call)
    return null
  }
  const { lineageId } = key
  if (asked.idempotency !== null) {
    const { first } = asked
    if (first !== null && nowMs < first.record.createdAtMs + IDEMPOTENCY_TTL_MS) {
      if (first.record.bodyHash !== asked.idempotency.bodyHash) {
        turn.refuse(token, fault('IDEMPOTENCY_KEY_REUSED'))
      } else turn.answer(token, new Sent(first.tx, true))
      return null
    }
    const running = state.running.get(runningKey(lineageId, asked.idempotency.key))
    if (running !== undefined) {
      answerAgain(turn, running, asked.idempotency.bodyHash, token)
      return null
    }
  } else if (key.duplicateGuard === 'on') {
    const twin = asked.findTwin()
    if (twin !== null) {
      turn.refuseSend(token, fault('DUPLICATE_SUSPECTED', { tx_id: twin }), asked.call)
      return null
    }
  }
  if (state.drafts.size + state.open.size + state.sponsored.size >= OPEN_MAX) {
    turn.refuse(token, fault('OVERLOADED', { open_transactions_max: OPEN_MAX }))
    return null
  }
  if (!quote.ok) {
    turn.refuseSend(token, quote.fault, asked.call)
    return null
  }
  if (quote.unpriced && key.unpricedAssets === 'deny') {
    turn.refuseSend(token, fault('PRICE_UNAVAILABLE', { chain_id: chainId }), asked.call)
    return null
  }
  const counters = countersOf(state, lineageId, nowMs)
  const exposure = quote.exposure ?? null
  const after = quote.forecast?.after ?? []
  const paid =
    exposure === null ? null : spendWithCredits(state, key, chainId, exposure, counters, after)
  const valuation =
    paid === null ? quote.valuation : { ...quote.valuation, valueMicros: paid.valueMicros }
  const micros = valuation.valueMicros + valuation.gasMicros
  const breach = capBreach(counters, key, micros)
  if (breach !== null) {
    for (const event of limitsHit(state, key, breach, nowMs)) turn.emit(event)
    const fitting =
      exposure === null ? null : approvalThatFits(exposure, excessOf(counters, key, micros))
    turn.refuseSend(token, limitFault(breach, fitting), asked.call)
    return null
  }
  const { day, month } = counters
  return { key, reservation: { micros, day, month }, valuation, paid }
}

/**
 * What a call counts for this key now, with what its lineage has paid for already.
 * @param after calls under way after which its exposure was read
 */
export function spendWithCredits(
  state: SubWalletState,
  key: ApiKey,
  chainId: number,
  exposure: Exposure,
  { day }: SpendCounters,
  after: readonly TxId[],
): Spend {
  const isCapped = key.dailyLimitMicros !== null || key.monthlyLimitMicros !== null
  // Most calls of contracts reach no allowance: to look credits up would cost them for nothing.
  const asks = exposure.tokens.some(
    ({ standing, toPermit2 }) => standing.length > 0 || toPermit2 > 0n,
  )
  const credits = asks ? creditsOf(state, key.lineageId, chainId, day, after) : null
  return spendOf(exposure, credits, isCapped)
}

/** By how much a call would pass the caps, whichever it passes by more. */
function excessOf(counters: SpendCounters, key: ApiKey, micros: bigint): bigint {
  const over = (limit: bigint | null, used: bigint) => (limit === null ? 0n : used + micros - limit)
  const daily = over(key.dailyLimitMicros, counters.dayMicros)
  const monthly = over(key.monthlyLimitMicros, counters.monthMicros)
  if (daily > monthly) return daily
  return monthly
}

/** The first request with this Idempotency-Key is a draft, or a transaction that is still open. */
function answerAgain(turn: Turn, txId: TxId, bodyHash: string, token: ReplyToken | null): void {
  const { open: transactions, requests, drafts } = turn.state
  const open = transactions.get(txId) ?? sponsoredEntry(turn, txId)
  const asked = requests.get(txId) ?? sponsoredRequest(turn, txId) ?? drafts.get(txId)?.draft
  const first = asked?.idempotency ?? null
  if (first !== null && first.bodyHash !== bodyHash) {
    turn.refuse(token, fault('IDEMPOTENCY_KEY_REUSED'))
  } else if (open === undefined || open.tx === null || open.token !== null) {
    turn.refuse(token, fault('IDEMPOTENCY_IN_PROGRESS', { tx_id: txId }))
  } else turn.answer(token, new Sent(open.tx, true))
}

/** A sponsored call, in the same terms; it has no transaction before its gas wallet signed. */
function sponsoredEntry(turn: Turn, txId: TxId) {
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined) return undefined
  const { tx, token } = entry
  return { tx, token }
}

function sponsoredRequest(turn: Turn, txId: TxId) {
  const entry = turn.state.sponsored.get(txId)
  return entry === undefined ? undefined : (entry.sponsorship ?? entry.draft)
}

function limitFault(breach: CapBreach, fitting: CreditAmount | null): Fault {
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
      resets_at: isoTime(breach.resetsAtMs),
      ...(fitting === null ? {} : { suggestion: suggestionOf(fitting) }),
    },
    fitting === null
      ? `The request would exceed the ${breach.period} cap of ${limit} USD; ${formatUsd(left > 0n ? left : 0n)} USD are left.`
      : `An approval counts in full, whatever the balance is, and this one would exceed the ${breach.period} cap of ${limit} USD; at most ${fitting.amount} (smallest units) would fit now.`,
  )
}

/** The same approval, as large as it may be now. */
function suggestionOf({ token, spender, amount }: CreditAmount) {
  return { token, spender, amount: amount.toString() }
}
