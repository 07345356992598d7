import { isoTime } from '../domain/iso-time.js'
import { dayEndMs, monthEndMs, utcDay, utcMonth } from '../domain/spend.js'
import type { CallShown, Move } from './call-shown.js'
import type { Token } from './call-terms.js'
import { CANNOT_BE_JUDGED } from './condition.js'
import type { Denial } from './judge-policy.js'
import type { Ceiling, Policy } from './policy.js'

/** Units that count in a UTC day and month, by chain and token. */
export interface UnitsTaken {
  readonly chainId: number
  readonly token: Token
  readonly amount: bigint
}

/**
 * The units that a call takes of a policy's ceilings.
 * @param gasWei the worst case, gas limit × highest fee, which leaves a wallet in native coin in
 * addition to the value; 0 for a call whose gas others pay
 * @returns null when a ceiling of its chain cannot be judged, because the bytes could move units
 * that they do not show
 */
export function unitsTaken(
  policy: Policy,
  call: CallShown,
  gasWei = 0n,
): readonly UnitsTaken[] | null {
  const { ceilings } = policy
  if (ceilings.length === 0) return NOTHING
  const tokens = new Set<Token>()
  for (const { chainId, token } of ceilings) if (chainId === call.chainId) tokens.add(token)
  if (tokens.size === 0) return NOTHING
  if (call.moves === null) return null
  const taken: UnitsTaken[] = []
  for (const token of tokens) {
    const amount = amountOf(call.moves, token) + (token === 'native' ? gasWei : 0n)
    if (amount > 0n) taken.push({ chainId: call.chainId, token, amount })
  }
  return taken
}

interface CeilingBreach {
  readonly ceiling: Ceiling
  readonly used: bigint
  readonly requested: bigint
}

/** Returns the used part of a ceiling in the present window. */
type UsedOf = (ceiling: Ceiling) => bigint

/** The breach that lasts longest, when several ceilings are in the way. */
export function ceilingBreach(
  policy: Policy,
  taken: readonly UnitsTaken[],
  usedOf: UsedOf,
): CeilingBreach | null {
  let longest: CeilingBreach | null = null
  for (const { chainId, token, amount } of taken) {
    for (const ceiling of policy.ceilings) {
      if (ceiling.chainId !== chainId || ceiling.token !== token) continue
      const used = usedOf(ceiling)
      if (used + amount <= ceiling.amount) continue
      const breach = { ceiling, used, requested: amount }
      if (longest === null || lastingOf(breach) > lastingOf(longest)) longest = breach
    }
  }
  return longest
}

/** An amount above a whole ceiling fits no later window either. */
function isForGood({ ceiling, requested }: CeilingBreach): boolean {
  return requested > ceiling.amount
}

function lastingOf(breach: CeilingBreach): number {
  if (isForGood(breach)) return 2
  return breach.ceiling.per === 'month' ? 1 : 0
}

export function ceilingResetsAtMs({ per }: Ceiling, nowMs: number): number {
  return per === 'day' ? dayEndMs(utcDay(nowMs)) : monthEndMs(utcMonth(nowMs))
}

/** The refusal of a call for its units. */
export type CeilingDenial = Omit<Denial, 'heals'> & {
  /** ISO 8601; null when waiting does not help. */
  readonly retryAt: string | null
}

/** The refusal of a call with unknown units, on a chain with a ceiling. */
export const UNREADABLE_UNITS: CeilingDenial = {
  rule: 'ceilings',
  field: 'ceilings',
  observed: CANNOT_BE_JUDGED,
  permitted: 'calls that show what they move',
  retryAt: null,
  suggestion: 'Make a call whose amounts can be read, or ask the owner to change the policy.',
}

export function ceilingDenial(
  policy: Policy,
  breach: CeilingBreach,
  usedOf: UsedOf,
  nowMs: number,
): CeilingDenial {
  const { ceiling, used, requested } = breach
  const { chainId, token, per, amount } = ceiling
  const left = leftOf(policy, ceiling, usedOf)
  const fits = `At most ${left} (smallest units) fit now`
  return {
    rule: 'ceilings',
    field: `${token} on chain ${chainId} a ${per}`,
    observed: String(used + requested),
    permitted: String(amount),
    ...(isForGood(breach)
      ? { retryAt: null, suggestion: `${fits}, and ${amount} in a whole ${per}.` }
      : {
          retryAt: isoTime(ceilingResetsAtMs(ceiling, nowMs)),
          suggestion: `${fits}; the ${per} ends at retry_at.`,
        }),
  }
}

/** The remaining units of a token under all of its ceilings. */
function leftOf({ ceilings }: Policy, { chainId, token, amount }: Ceiling, usedOf: UsedOf): bigint {
  let least = amount
  for (const one of ceilings) {
    if (one.chainId !== chainId || one.token !== token) continue
    const left = one.amount - usedOf(one)
    if (left < least) least = left
  }
  return least < 0n ? 0n : least
}

const NOTHING: readonly UnitsTaken[] = []

function amountOf(moves: readonly Move[], token: Token): bigint {
  let amount = 0n
  for (const move of moves) if (move.token === token) amount += move.amount
  return amount
}
