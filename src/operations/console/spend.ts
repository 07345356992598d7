import type { ConsoleInput, ConsoleOutput } from '../../api/console-operations.js'
import { type ApiKey, keyStatus } from '../../domain/api-key.js'
import type { SubWalletId, UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { USD_CAP } from '../../domain/key-policy-forms.js'
import { formatUsd } from '../../domain/money.js'
import { isNamed, wantedWords } from '../../domain/name-words.js'
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
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { type AccountSpend, isCountedAbove, type SpendingKey } from './account-spend.js'
import { ownedKey } from './ownership.js'
import { pageOfKeys, pageOptions } from './page.js'
import { pageRanked, rankedLines } from './ranked-spend.js'

type ReadPorts = Pick<OperationPorts, 'reader' | 'nowMs'>
type SpendPorts = ReadPorts & { readonly accountSpend: AccountSpend }

/**
 * Reads records instead of asking actors, which a page would start by the hundred. It lags behind
 * decisions of this moment.
 */
export function listSpend(ports: SpendPorts): ConsoleHandlers['list_spend'] {
  const { reader, nowMs } = ports
  return ({ userId }, input) => {
    if (input.order === 'nearest_cap' && input.key_id === undefined) {
      return listRanked(ports, userId, input)
    }
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
      ok({ ...resetsAt(now), keys: keys.map(viewOf), next_cursor: nextCursor })
    if (input.key_id !== undefined) {
      const owned = ownedKey(reader, userId, input.key_id)
      return owned.ok ? answer([owned.value], null) : owned
    }
    const { items, nextCursor } = pageOfKeys(reader, userId, input)
    return answer(items, nextCursor)
  }
}

async function listRanked(
  { reader, accountSpend, nowMs }: SpendPorts,
  userId: UserId,
  input: ConsoleInput<'list_spend'>,
): Promise<Result<ConsoleOutput<'list_spend'>>> {
  const { search, days } = input
  const all = await accountSpend.of(userId)
  const now = nowMs()
  const wanted = search === undefined ? null : wantedWords(search)
  const lines =
    wanted === null ? all.lines : all.lines.filter(({ key }) => isNamed(key.name, wanted))
  const page = pageRanked(rankedLines(lines, now), pageOptions(input))
  if (page === null) {
    const message = 'must be next_cursor of the page before, in the same order'
    return refuse(fault('INVALID_REQUEST', { issues: [{ path: 'cursor', message }] }))
  }
  const keys = page.lines.map(({ key, counters }) => {
    const view = spendView(key, counters, now)
    if (days === undefined) return view
    const before = reader.spentDays.of(key.subWalletId, key.lineageId)
    return { ...view, days: daysView(counters, before, days, now) }
  })
  return ok({ ...resetsAt(now), keys, next_cursor: page.nextCursor })
}

/** Covers all keys that ever existed, including revoked ones, because their spend counts. */
export function getSpendTotals({
  accountSpend,
  nowMs,
}: SpendPorts): ConsoleHandlers['get_spend_totals'] {
  return async ({ userId }, { days }) => {
    const byDays = days === undefined ? null : await accountSpend.byDay(userId)
    const { lines, unread } = byDays ?? (await accountSpend.of(userId))
    const now = nowMs()
    const sums = { dayMicros: 0n, monthMicros: 0n, reservedMicros: 0n }
    const byDay = new Map(byDays?.pastDays)
    let inForce = 0
    for (const line of lines) {
      if (keyStatus(line.key, now) !== 'revoked') inForce++
      if (isCountedAbove(line)) continue
      const { dayMicros, monthMicros, reservedMicros } = rollForward(line.counters, now)
      sums.dayMicros += dayMicros
      sums.monthMicros += monthMicros
      sums.reservedMicros += reservedMicros
      const { day, dayMicros: lastMicros } = line.counters
      if (day < utcDay(now)) byDay.set(day, (byDay.get(day) ?? 0n) + lastMicros)
    }
    byDay.set(utcDay(now), sums.dayMicros)
    return ok({
      ...resetsAt(now),
      daily_used_usd: formatUsd(sums.dayMicros),
      monthly_used_usd: formatUsd(sums.monthMicros),
      reserved_usd: formatUsd(sums.reservedMicros),
      keys_in_force: inForce,
      unread_wallets: unread,
      ...(days === undefined ? {} : { days: daysIn(byDay, utcDay(now), days) }),
    })
  }
}

function resetsAt(nowMs: number) {
  return {
    daily_resets_at: isoTime(dayEndMs(utcDay(nowMs))),
    monthly_resets_at: isoTime(monthEndMs(utcMonth(nowMs))),
  }
}

/**
 * The current day is compared with the daily cap. Earlier days are stored by day, except the last
 * one with spend, which the counters keep until the next.
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
  return daysIn(micros, today, count)
}

function daysIn(micros: ReadonlyMap<number, bigint>, today: number, count: number) {
  return Array.from({ length: count }, (_, index) => {
    const day = today - count + 1 + index
    const date = isoTime(day * DAY_MS).slice(0, DATE_CHARS)
    return { date, spent_usd: formatUsd(micros.get(day) ?? 0n) }
  })
}

const DATE_CHARS = 'YYYY-MM-DD'.length

function spendView(key: SpendingKey, counters: SpendCounters, nowMs: number) {
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
