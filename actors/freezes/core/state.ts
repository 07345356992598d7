import type { Freeze } from '../../../src/domain/freeze.js'
import type { UserId } from '../../../src/domain/ids.js'
import type { ReplyToken } from '../../runtime/actor.js'

/**
 * One actor per user: what of theirs is frozen. Durable: the freezes in force, and whether the
 * identity provider has acknowledged each. Volatile: what it is being notified of, and who waits.
 */
export interface FreezesState {
  readonly userId: UserId
  readonly byName: Map<string, Freeze>
  /** Names that the identity provider has yet to be notified of, oldest first. */
  readonly pendingNotices: Set<string>
  /** The one that it is being notified of; null: none. */
  notifying: string | null
  /** True between a failed attempt and the next. */
  resting: boolean
  /** Attempts in a row that failed. */
  failures: number
  readonly waiting: Map<string, ReplyToken[]>
  /** Being lifted, with whoever asked for it. */
  readonly lifting: Map<string, Lifting>
}

export interface Lifting {
  readonly token: ReplyToken | null
  readonly requestId: string
  readonly byPerson: string | undefined
  /** Frozen once more meanwhile: then it stays. */
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
