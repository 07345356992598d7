import type { ApiKey } from '../../domain/api-key.js'
import { formatUsd, type UsdMicros } from '../../domain/money.js'
import { dayEndMs, monthEndMs, type SpendCounters } from '../../domain/spend.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/** Asked of the actor, since reservations of requests under way are known there alone. */
export function getLimits({ actors, nowMs }: OperationPorts): AgentHandlers['get_limits'] {
  return async ({ key }) => {
    const command = { type: 'read-limits', keyId: key.keyId, nowMs: nowMs() }
    const answer = await actors.ask({ kind: 'sub-wallet', id: key.subWalletId }, command)
    if (!answer.ok) return answer
    const { key: current, counters } = answer.value as { key: ApiKey; counters: SpendCounters }
    const dailyResetsAt = new Date(dayEndMs(counters.day)).toISOString()
    return {
      ok: true,
      value: {
        daily_limit_usd: capText(current.dailyLimitMicros),
        daily_used_usd: formatUsd(counters.dayMicros),
        monthly_limit_usd: capText(current.monthlyLimitMicros),
        monthly_used_usd: formatUsd(counters.monthMicros),
        resets_at: dailyResetsAt,
        daily_resets_at: dailyResetsAt,
        monthly_resets_at: new Date(monthEndMs(counters.month)).toISOString(),
        reserved_usd: formatUsd(counters.reservedMicros),
      },
    }
  }
}

function capText(micros: UsdMicros | null): string {
  return micros === null ? 'unlimited' : formatUsd(micros)
}
