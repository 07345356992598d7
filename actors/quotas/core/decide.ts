import type { Quotas } from '../../../src/domain/quotas.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { quotaExceeded } from '../../../src/errors/quota-exceeded.js'
import type { Decision, ReplyToken } from '../../runtime/actor.js'

/**
 * One actor per user: how many wallets, keys and webhooks they have. Whoever creates one reserves a
 * place here first and says afterwards how it went, so that checking and taking are one step
 * whatever races. Nothing of it is stored: the records themselves are counted when the actor starts.
 */
export interface QuotaState {
  /** Made for good, as far as is known. */
  readonly made: Record<CountedQuota, number>
  /** Being made, by the name of their request. */
  readonly reserved: Record<CountedQuota, Set<string>>
  /** There may be fewer: something is gone, or was begun and nobody knows whether it was made. */
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
  /** Something is gone, and maybe more with it. */
  | { readonly type: 'free' }

/** Being made at once; the front end has no more requests of one user under way. */
const RESERVED_MAX = 2_000

/** Answers `reserve` alone. */
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
    // The records may say so already, and only they know what went along with it.
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
  // Where it is not known, it is counted: too few are better than too many.
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

/** True when the records say all there is to know. */
export function isSettled({ reserved }: QuotaState): boolean {
  return Object.values(reserved).every((names) => names.size === 0)
}
