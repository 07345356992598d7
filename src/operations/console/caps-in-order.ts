import { invalidAt } from '../../api/parse.js'
import type { ApiKey } from '../../domain/api-key.js'
import type { Fault } from '../../errors/fault.js'

/**
 * A daily cap above the monthly one never has an effect, so the two were most likely mixed up.
 * Without a daily cap only the monthly one applies.
 * @returns null if the caps are plausible
 */
export function capsOutOfOrder(
  key: Pick<ApiKey, 'dailyLimitMicros' | 'monthlyLimitMicros'>,
): Fault | null {
  const { dailyLimitMicros: daily, monthlyLimitMicros: monthly } = key
  if (daily === null || monthly === null || daily <= monthly) return null
  return invalidAt('daily_limit_usd', OUT_OF_ORDER)
}

const OUT_OF_ORDER =
  'must not exceed monthly_limit_usd, which would be used up first; lower it, or use "unlimited" for no daily cap'
