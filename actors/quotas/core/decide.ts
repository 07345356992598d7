import type { Quotas } from '../../../src/domain/quotas.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { quotaExceeded } from '../../../src/errors/quota-exceeded.js'
import type { Decision, ReplyToken } from '../../runtime/actor.js'

/**
 * One actor per user: the number of the user's wallets, keys and webhooks. The creator of one first
 * reserves a place here and later reports the outcome, so the check and the reservation are one
 * step. None of it is stored: the records themselves are counted when the actor starts.
 */
export interface QuotaState {
  /** The number that exists, as far as is known. */
  readonly made: Record<CountedQuota, number>
  /** Reservations of pending requests, by request name. */
  readonly reserved: Record<CountedQuota, Set<string>>
  /** True when there may be fewer: a record was removed, or the outcome of a request is unknown. */
  uncertain: boolean
}

export type CountedQuota = Exclude<keyof Quotas, 'rules'>

export type QuotaCommand =
  | {
      readonly type: 'reserve'
      readonly quota: CountedQuota
      readonly name: string
      readonly limit: number
    }
  | {
      readonly type: 'settle'
      readonly quota: CountedQuota
      readonly name: string
      readonly outcome: 'made' | 'not-made' | 'unknown'
    }
  /** A record was removed, and others may have gone with it. */
  | { readonly type: 'free' }

/** The most reservations at once; the front end has no more pending requests of one user. */
const RESERVED_MAX = 2_000

/** Only `reserve` is answered. */
export function decide(
  state: QuotaState,
  command: QuotaCommand,
  token: ReplyToken | null,
): Decision<never, never> {
  const why = apply(state, command)
  if (token === null) return { events: [], effects: [], replies: [] }
  const result =
    why === null ? { ok: true as const, value: null } : { ok: false as const, fault: why }
  return { events: [], effects: [], replies: [{ token, result }] }
}

function apply(state: QuotaState, command: QuotaCommand): Fault | null {
  if (command.type === 'free') {
    // The records may already show it, and only they show what else was removed with it.
    state.uncertain = true
    return null
  }
  const { quota } = command
  const reserved = state.reserved[quota]
  if (command.type === 'reserve') {
    const { name, limit } = command
    if (isFull(state, command)) return quotaExceeded(quota, limit)
    if (reserved.size >= RESERVED_MAX) return fault('OVERLOADED')
    reserved.add(name)
    return null
  }
  if (!reserved.delete(command.name)) return null
  // A request with an unknown outcome counts: too few places are better than too many.
  if (command.outcome !== 'not-made') state.made[quota]++
  if (command.outcome === 'unknown') state.uncertain = true
  return null
}

export function isFull(
  { made, reserved }: QuotaState,
  { quota, limit }: Extract<QuotaCommand, { type: 'reserve' }>,
): boolean {
  return made[quota] + reserved[quota].size >= limit
}

/** True when no request is pending, so that the records give the exact counts. */
export function isSettled({ reserved }: QuotaState): boolean {
  return Object.values(reserved).every((names) => names.size === 0)
}
