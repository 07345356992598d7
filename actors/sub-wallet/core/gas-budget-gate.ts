import { isoTime } from '../../../src/domain/iso-time.js'
import { formatUsd, type UsdMicros } from '../../../src/domain/money.js'
import { dayEndMs, utcDay } from '../../../src/domain/spend.js'
import {
  type GasBudgetUse,
  type GasUse,
  gasCounted,
  heldGasOf,
  type WalletGas,
} from '../../../src/domain/sponsored-gas.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { CallAtGates } from './call-at-gates.js'
import type { SubWalletState } from './state.js'
import type { Turn } from './turn.js'

/**
 * The operator pays for the gas of sponsored calls. Each call holds the most that it may cost in
 * two daily (UTC) budgets, its sub-wallet's and its user's, from the decision that lets it through
 * until a receipt shows its cost. The hold is first the gas that such a flow usually takes, then
 * the gas limit times the fee, before the gas wallet signs them.
 */

const USED_UP = {
  sub_wallet:
    'The gas that the service pays per day for this sub-wallet is used up; sends that pay their own gas still work.',
  user: 'The gas that the service pays per day for all sub-wallets of this user is used up; sends that pay their own gas still work.',
} as const

export function passesGasBudget(turn: Turn, asked: CallAtGates): boolean {
  const { sponsoredGasMicros, nowMs, token, request } = asked
  if (sponsoredGasMicros === null) return true
  const lack = gasLack(turn.state, sponsoredGasMicros, nowMs)
  if (lack === null) return true
  turn.refuseSend(token, lack, request)
  return false
}

/** Returns why the service cannot hold this much more for the wallet now, or null when it can. */
export function gasLack(state: SubWalletState, moreMicros: UsdMicros, nowMs: number): Fault | null {
  if (moreMicros <= 0n) return null
  const { wallet, user } = gasUseOf(state, nowMs)
  if (wallet.usedMicros + moreMicros > wallet.limitMicros) {
    return usedUp('sub_wallet', wallet, nowMs)
  }
  return user.usedMicros + moreMicros > user.limitMicros ? usedUp('user', user, nowMs) : null
}

export function gasUseOf(state: SubWalletState, nowMs: number): GasUse {
  const own = walletGasOf(state)
  const { limits, ofOthers } = state.gasBudget
  const usedMicros = gasCounted(own, nowMs)
  return {
    wallet: { limitMicros: limits.walletMicros, usedMicros },
    user: { limitMicros: limits.userMicros, usedMicros: usedMicros + ofOthers(nowMs) },
    heldMicros: own.heldMicros,
  }
}

export function walletGasOf({ sponsoredGas, sponsored }: SubWalletState): WalletGas {
  let heldMicros = 0n
  for (const { phase, gasMicros, sponsorship } of sponsored.values()) {
    heldMicros += heldGasOf(phase, sponsorship ?? { gasMicros })
  }
  return { paid: sponsoredGas, heldMicros }
}

function usedUp(
  scope: keyof typeof USED_UP,
  { limitMicros, usedMicros }: GasBudgetUse,
  nowMs: number,
): Fault {
  const resetsAtMs = dayEndMs(utcDay(nowMs))
  const details = {
    ...{ budget: 'sponsored_gas', scope, limit_usd: formatUsd(limitMicros) },
    used_usd: formatUsd(usedMicros),
    resets_at: isoTime(resetsAtMs),
    retry_after_seconds: Math.ceil((resetsAtMs - nowMs) / 1_000),
  }
  return fault('RATE_LIMITED', details, USED_UP[scope])
}
