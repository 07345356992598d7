import { type ApiKey, keyStatus } from '../../domain/api-key.js'
import type { SubWalletId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { USD_CAP } from '../../domain/key-policy-forms.js'
import { formatUsd } from '../../domain/money.js'
import { DAY_MS } from '../../domain/retention.js'
import {
  dayEndMs,
  monthEndMs,
  NO_SPEND,
  rollForward,
  type SpendCounters,
  utcDay,
  utcMonth,
} from '../../domain/spend.js'
import type { SpentDay } from '../../domain/spent-days.js'
import type { SubWalletHeader } from '../../domain/wallet.js'
import { ok } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedKey } from './ownership.js'
import { pageOfKeys } from './page.js'

type ReadPorts = Pick<OperationPorts, 'reader' | 'nowMs'>

/**
 * From the records, and without their actors, which a page would start by the hundred: it is behind
 * by what is being decided this moment.
 */
export function listSpend({ reader, nowMs }: ReadPorts): ConsoleHandlers['list_spend'] {
  return ({ userId }, input) => {
    const now = nowMs()
    const headers = new Map<SubWalletId, SubWalletHeader>()
    const headerOf = (id: SubWalletId) => {
      const header = headers.get(id) ?? reader.wallets.header(id)
      if (header !== undefined) headers.set(id, header)
      return header
    }
    const viewOf = (key: ApiKey) => {
      const { lineageId, subWalletId } = key
      const spend = headerOf(subWalletId)?.spend ?? []
      const counters = spend.find((one) => one.lineageId === lineageId)?.counters ?? NO_SPEND
      const view = spendView(key, counters, now)
      if (input.days === undefined) return view
      const before = reader.spentDays.of(subWalletId, lineageId)
      return { ...view, days: daysView(counters, before, input.days, now) }
    }
    const answer = (keys: readonly ApiKey[], nextCursor: string | null) =>
      ok({
        daily_resets_at: isoTime(dayEndMs(utcDay(now))),
        monthly_resets_at: isoTime(monthEndMs(utcMonth(now))),
        keys: keys.map((key) => viewOf(key)),
        next_cursor: nextCursor,
      })
    if (input.key_id !== undefined) {
      const owned = ownedKey(reader, userId, input.key_id)
      return owned.ok ? answer([owned.value], null) : owned
    }
    const { items, nextCursor } = pageOfKeys(reader, userId, input)
    return answer(items, nextCursor)
  }
}

/**
 * The day that runs is what the daily cap is held against; those before it are kept by day, but for
 * the last one on which something was spent, which the counters leave with the next.
 */
function daysView(
  counters: SpendCounters,
  before: readonly SpentDay[],
  count: number,
  nowMs: number,
) {
  const { day: today, dayMicros } = rollForward(counters, nowMs)
  const micros = new Map(before.map((one) => [one.day, one.micros]))
  const add = (day: number, more: bigint) => micros.set(day, (micros.get(day) ?? 0n) + more)
  if (counters.day < today) add(counters.day, counters.dayMicros)
  add(today, dayMicros)
  return Array.from({ length: count }, (_, index) => {
    const day = today - count + 1 + index
    const date = isoTime(day * DAY_MS).slice(0, DATE_CHARS)
    return { date, spent_usd: formatUsd(micros.get(day) ?? 0n) }
  })
}

const DATE_CHARS = 'YYYY-MM-DD'.length

function spendView(key: ApiKey, counters: SpendCounters, nowMs: number) {
  const { dayMicros, monthMicros, reservedMicros } = rollForward(counters, nowMs)
  return {
    key_id: key.keyId,
    lineage_id: key.lineageId,
    parent_key_id: key.parentLineageId ?? null,
    name: key.name,
    sub_wallet_id: key.subWalletId,
    status: keyStatus(key, nowMs),
    daily_limit_usd: USD_CAP.toWire(key.dailyLimitMicros),
    daily_used_usd: formatUsd(dayMicros),
    monthly_limit_usd: USD_CAP.toWire(key.monthlyLimitMicros),
    monthly_used_usd: formatUsd(monthMicros),
    reserved_usd: formatUsd(reservedMicros),
  }
}
