import { type ApiKey, keyStatus } from '../../domain/api-key.js'
import type { SubWalletId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { USD_CAP } from '../../domain/key-policy-forms.js'
import { formatUsd } from '../../domain/money.js'
import {
  dayEndMs,
  monthEndMs,
  NO_SPEND,
  rollForward,
  utcDay,
  utcMonth,
} from '../../domain/spend.js'
import type { SubWalletHeader } from '../../domain/wallet.js'
import { ok } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedKey } from './ownership.js'
import { pageOptions } from './page.js'

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
    const answer = (keys: readonly ApiKey[], nextCursor: string | null) =>
      ok({
        daily_resets_at: isoTime(dayEndMs(utcDay(now))),
        monthly_resets_at: isoTime(monthEndMs(utcMonth(now))),
        keys: keys.map((key) => spendView(key, headerOf(key.subWalletId), now)),
        next_cursor: nextCursor,
      })
    if (input.key_id !== undefined) {
      const owned = ownedKey(reader, userId, input.key_id)
      return owned.ok ? answer([owned.value], null) : owned
    }
    const { items, nextCursor } = reader.keys.ofUser(userId, pageOptions(input))
    return answer(items, nextCursor)
  }
}

function spendView(key: ApiKey, header: SubWalletHeader | undefined, nowMs: number) {
  const stored = header?.spend.find(({ lineageId }) => lineageId === key.lineageId)?.counters
  const { dayMicros, monthMicros, reservedMicros } = rollForward(stored ?? NO_SPEND, nowMs)
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
