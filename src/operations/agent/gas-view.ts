import type { SponsoredGas } from '../../api/console-wallets.js'
import { isoTime } from '../../domain/iso-time.js'
import { formatUsd } from '../../domain/money.js'
import { dayEndMs, utcDay } from '../../domain/spend.js'
import type { GasUse } from '../../domain/sponsored-gas.js'

/** Shows both gas budgets of a sub-wallet, and their use on the present day. */
export function gasView({ wallet, user, heldMicros }: GasUse, nowMs: number): SponsoredGas {
  return {
    daily_limit_usd: formatUsd(wallet.limitMicros),
    daily_used_usd: formatUsd(wallet.usedMicros),
    reserved_usd: formatUsd(heldMicros),
    user_daily_limit_usd: formatUsd(user.limitMicros),
    user_daily_used_usd: formatUsd(user.usedMicros),
    resets_at: isoTime(dayEndMs(utcDay(nowMs))),
  }
}
