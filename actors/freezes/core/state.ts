import type { Freeze } from '../../../src/domain/freeze.js'
import type { UserId } from '../../../src/domain/ids.js'
import type { ReplyToken } from '../../runtime/actor.js'

/**
 * One actor per user: the user's freezes. Durable are the freezes in force and whether the identity
 * provider has acknowledged each. Volatile are the notification under way and the callers that
 * wait.
 */
export interface FreezesState {
  readonly userId: UserId
  readonly byName: Map<string, Freeze>
  /** Names that the identity provider has yet to be notified of, oldest first. */
  readonly pendingNotices: Set<string>
  /** The name in the notification under way; null between notifications. */
  notifying: string | null
  /** True during the backoff after a failed attempt. */
  resting: boolean
  /** The number of failed attempts in a row. */
  failures: number
  readonly waiting: Map<string, ReplyToken[]>
  /** Freezes that are being lifted, with the caller of each. */
  readonly lifting: Map<string, Lifting>
}

interface Lifting {
  readonly token: ReplyToken | null
  readonly requestId: string
  readonly byPerson: string | undefined
  /** True when the target was frozen again in the meantime: then it stays frozen. */
  refrozen: boolean
}

export function freezesState(userId: UserId, standing: readonly Freeze[]): FreezesState {
  return {
    userId,
    byName: new Map(standing.map((freeze) => [freeze.name, freeze])),
    pendingNotices: new Set(
      standing.filter(({ custody }) => custody === 'pending').map(({ name }) => name),
    ),
    notifying: null,
    resting: false,
    failures: 0,
    waiting: new Map(),
    lifting: new Map(),
  }
}
