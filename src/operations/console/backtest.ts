import { z } from 'zod'
import { invalidAt } from '../../api/parse.js'
import type { KeyId, TxId, UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { CALL_POLICY, USD_CAP } from '../../domain/key-policy-forms.js'
import { formatUsd, type UsdMicros } from '../../domain/money.js'
import { lineagesOn } from '../../domain/sub-key.js'
import { wasLetThrough } from '../../domain/transaction.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedKey } from './ownership.js'
import { type CapRefusal, type CapReplay, REPLAY_START, replayCap } from './replay-caps.js'
import { type PolicyRefusal, PolicyReplay, policyRefusalView } from './replay-policy.js'
import { takeTurns } from './take-turns.js'

/** Transactions of the user that one answer scans; the cursor carries the counters. */
const SCAN_MAX = 2_000

/**
 * With a policy the whole history is one answer, because what it counts does not fit a cursor. This
 * many transactions take a few seconds.
 */
const SCAN_WITH_POLICY_MAX = 200_000

/**
 * Other work runs between two slices: no call waits longer than this, plus one record, for each
 * backtest at work (take-turns.ts).
 */
const SLICE_MS = 4
const SLICE_MAX = 200

/**
 * Replays the history of the key's lineage, and of the keys that it made, against other caps; all
 * of it counts towards the key. Refused calls are not included. Long histories take several
 * answers: following `next_cursor` with the same caps gives the exact result.
 */
export function backtestKey({
  reader,
  timers,
}: Pick<OperationPorts, 'reader' | 'timers'>): ConsoleHandlers['backtest_key'] {
  return takeTurns(async ({ userId }, input) => {
    const owned = ownedKey(reader, userId, input.key_id)
    if (!owned.ok) return owned
    const { keyId, lineageId, subWalletId, dailyLimitMicros, monthlyLimitMicros } = owned.value
    const counting = lineagesOn(reader.keys.ofWallet(subWalletId), lineageId)
    const from = readCursor(keyId, input.cursor)
    if (!from.ok) return from
    const caps = {
      dailyLimitMicros: capOf(input.daily_limit_usd, dailyLimitMicros),
      monthlyLimitMicros: capOf(input.monthly_limit_usd, monthlyLimitMicros),
    }
    const policy = CALL_POLICY.fromWire(input.policy ?? null)
    const policyReplay = policy === null ? null : new PolicyReplay(policy)
    if (policyReplay !== null && input.cursor !== undefined) {
      return refuse(invalidAt('cursor', 'is not for a backtest of a policy'))
    }
    const scanMax = policyReplay === null ? SCAN_MAX : SCAN_WITH_POLICY_MAX
    const denied: PolicyRefusal[] = []
    let { replay, afterId } = from.value
    const refused: CapRefusal[] = []
    let checked = 0
    let more = true
    for (let scanned = 0; more && scanned < scanMax; ) {
      if (scanned > 0) await new Promise<void>((resolve) => timers.soon(resolve))
      const endsAtMs = timers.elapsed() + SLICE_MS
      const sliceMax = Math.min(SLICE_MAX, scanMax - scanned)
      more = false
      let taken = 0
      for (const tx of reader.transactions.ofUserOldestFirst(userId as UserId, afterId)) {
        if (taken === sliceMax || (taken > 0 && timers.elapsed() >= endsAtMs)) {
          more = true
          break
        }
        taken++
        afterId = tx.txId
        if (!wasLetThrough(tx)) continue
        if (!counting.has(tx.lineageId)) {
          if (tx.subWalletId === subWalletId) policyReplay?.note(tx)
          continue
        }
        checked++
        const denial = policyReplay?.judge(tx) ?? null
        if (denial !== null) denied.push(denial)
        const { next, refusal } = replayCap(replay, caps, tx)
        replay = next
        if (refusal !== null) refused.push(refusal)
      }
      scanned += taken
    }
    if (policyReplay !== null && more) {
      const message = `The history is longer than the ${SCAN_WITH_POLICY_MAX} transactions that a policy is tested on.`
      return refuse(fault('INVALID_REQUEST', { transactions_max: SCAN_WITH_POLICY_MAX }, message))
    }
    const nextCursor = more && afterId !== null ? writeCursor(keyId, { replay, afterId }) : null
    return {
      ok: true,
      value: {
        checked,
        refused: refused.map(refusalView),
        ...(policyReplay === null ? {} : { policy_denied: denied.map(policyRefusalView) }),
        next_cursor: nextCursor,
      },
    }
  })
}

/** An omitted cap keeps its current value. */
function capOf(asked: string | undefined, own: UsdMicros | null): UsdMicros | null {
  return asked === undefined ? own : USD_CAP.fromWire(asked)
}

interface Progress {
  readonly replay: CapReplay
  readonly afterId: TxId | null
}

/** The cursor is neither secret nor signed: it can change only its sender's own answer. */
const cursorFields = z.tuple([
  z.string(),
  z.string().max(64),
  z.int().min(0),
  z.string().regex(/^\d{1,24}$/),
  z.int().min(0),
  z.string().regex(/^\d{1,24}$/),
])

function writeCursor(keyId: KeyId, { replay: { counters }, afterId }: Progress): string {
  const { day, dayMicros, month, monthMicros } = counters
  // The last characters of the key's id, so that a cursor of another key is noticed.
  const fields = [keyId.slice(-8), afterId, day, `${dayMicros}`, month, `${monthMicros}`]
  return Buffer.from(JSON.stringify(fields)).toString('base64url')
}

function readCursor(keyId: KeyId, cursor: string | undefined): Result<Progress> {
  if (cursor === undefined) return ok({ replay: REPLAY_START, afterId: null })
  const parsed = cursorFields.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  if (!parsed.success || parsed.data[0] !== keyId.slice(-8)) {
    return refuse(invalidAt('cursor', 'is not a next_cursor of this backtest'))
  }
  const [, afterId, day, dayMicros, month, monthMicros] = parsed.data
  const counters = {
    day,
    dayMicros: BigInt(dayMicros),
    month,
    monthMicros: BigInt(monthMicros),
    reservedMicros: 0n,
  }
  return ok({ replay: { counters }, afterId: afterId as TxId })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function refusalView({ txId, createdAtMs, requestedMicros, period, usedMicros }: CapRefusal) {
  return {
    tx_id: txId,
    created_at: isoTime(createdAtMs),
    spend_usd: formatUsd(requestedMicros),
    period,
    used_usd: formatUsd(usedMicros),
  }
}
