import type { KeyId, UserId } from '../../../src/domain/ids.js'
import {
  NO_USER_TALLY,
  type Trip,
  type UserBreaker,
  type UserTally,
  type Watched,
  watchUser,
} from '../../../src/policy/user-breakers.js'
import type { Decision, ReplyToken } from '../../runtime/actor.js'

/** One actor per user with breakers: their definitions and their counts. */
export interface UserBreakersState {
  readonly userId: UserId
  breakers: readonly UserBreaker[]
  tally: UserTally
}

export type UserBreakersCommand =
  /** Replaces the breakers and starts counting again. Answered with the breakers in force. */
  | {
      readonly type: 'set'
      readonly breakers: readonly UserBreaker[]
      readonly requestId: string
      /** The person at the console, for the audit trail. */
      readonly byPerson?: string | undefined
      readonly nowMs: number
    }
  /** Sent by a sub-wallet of the user, which lives on the same thread. */
  | {
      readonly type: 'watched'
      readonly seen: Watched
      readonly keyId: KeyId
      readonly requestId: string
    }

export type UserBreakersEvent =
  | {
      readonly type: 'set'
      readonly breakers: readonly UserBreaker[]
      readonly requestId: string
      readonly byPerson?: string | undefined
      readonly atMs: number
    }
  /** Volatile for refusals. */
  | { readonly type: 'counted'; readonly of: Watched['type']; readonly tally: UserTally }
  | { readonly type: 'tripped' }

export type UserBreakersEffect =
  /** Runs once the change is durable. */
  | { readonly type: 'changed'; readonly breakers: readonly UserBreaker[] }
  /** Freezes the user. It runs before the trip is durable, because it only restricts. */
  | {
      readonly type: 'trip'
      readonly trip: Trip
      readonly keyId: KeyId
      readonly requestId: string
    }

/** The decisions are synchronous and deterministic. */
export function decide(
  state: UserBreakersState,
  command: UserBreakersCommand,
  token: ReplyToken | null,
): Decision<UserBreakersEvent, UserBreakersEffect> {
  if (command.type === 'set') {
    const { breakers, requestId, byPerson, nowMs } = command
    const event = { type: 'set', breakers, requestId, byPerson, atMs: nowMs } as const
    evolve(state, event)
    return {
      events: [event],
      effects: [{ type: 'changed', breakers }],
      replies: token === null ? [] : [{ token, result: { ok: true, value: breakers } }],
    }
  }
  const { seen, keyId, requestId } = command
  // The breakers may have been removed while the message was under way.
  if (state.breakers.length === 0) return { events: [], effects: [], replies: [] }
  const { tally, trip } = watchUser(state.breakers, state.tally, seen)
  const event =
    trip === null
      ? ({ type: 'counted', of: seen.type, tally } as const)
      : ({ type: 'tripped' } as const)
  evolve(state, event)
  const effects = trip === null ? [] : [{ type: 'trip' as const, trip, keyId, requestId }]
  return { events: [event], effects, replies: [] }
}

function evolve(state: UserBreakersState, event: UserBreakersEvent): void {
  if (event.type === 'set') state.breakers = event.breakers
  state.tally = event.type === 'counted' ? event.tally : NO_USER_TALLY
}
