import type { StoredEvent } from '../../domain/event.js'
import type { UserId } from '../../domain/ids.js'
import type { Pruned } from '../../domain/retention.js'
import type { Environment } from '../environment.js'
import type { Reader } from '../reader.js'

/**
 * Records that one step looks at: a few milliseconds during which nobody else commits. Between two
 * steps whoever runs them lets the others go on.
 */
export const STEP_RECORDS_MAX = 256

export interface PruneContext {
  readonly environment: Environment
  readonly reader: Reader
  readonly needs: EventNeeds
}

/** @returns whether one of the user's endpoints has still to deliver the event */
export type EventNeeds = (user: UserId) => (event: StoredEvent) => boolean

/** `count` changes nothing. */
export type Mode = 'remove' | 'count'

export interface Step<Cursor> {
  /** Where the next one goes on; null: there is nothing left. */
  readonly next: Cursor | null
  readonly pruned: Partial<Pruned>
}
