import { isoTime } from '../../../src/domain/iso-time.js'
import { formatUsd } from '../../../src/domain/money.js'
import { dayCounted, dayEndMs, utcDay } from '../../../src/domain/spend.js'
import { fault } from '../../../src/errors/fault.js'
import type { CallAtGates } from './call-at-gates.js'
import { SPONSORED_GAS_DAY_MAX_MICROS } from './sponsored-state.js'
import type { SubWalletState } from './state.js'
import type { Turn } from './turn.js'

const USED_UP =
  'The gas that the service pays for this sub-wallet in a day is used up; sends that pay their own gas go on.'

/** What the service pays for one sub-wallet in a day has a bound of its own. */
export function passesGasBudget(turn: Turn, asked: CallAtGates): boolean {
  const { sponsoredGasMicros, nowMs, token, request } = asked
  if (sponsoredGasMicros === null) return true
  const spentMicros = gasOfDay(turn.state, nowMs)
  if (spentMicros + sponsoredGasMicros <= SPONSORED_GAS_DAY_MAX_MICROS) return true
  const resetsAtMs = dayEndMs(utcDay(nowMs))
  const used = {
    used_usd: formatUsd(spentMicros),
    resets_at: isoTime(resetsAtMs),
    retry_after_seconds: Math.ceil((resetsAtMs - nowMs) / 1_000),
  }
  const why = fault('RATE_LIMITED', { budget: 'sponsored_gas', ...used }, USED_UP)
  turn.refuseSend(token, why, request)
  return false
}

/** Gas paid today, and what is held for calls under way. */
function gasOfDay({ sponsoredGas, sponsored }: SubWalletState, nowMs: number): bigint {
  const { day } = sponsoredGas
  let micros = dayCounted(day, nowMs) > day ? 0n : sponsoredGas.micros
  for (const { phase, gasMicros } of sponsored.values()) if (phase !== 'held') micros += gasMicros
  return micros
}
