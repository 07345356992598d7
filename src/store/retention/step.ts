import type { StoredEvent } from '../../domain/event.js'
import type { UserId } from '../../domain/ids.js'
import type { Pruned } from '../../domain/retention.js'
import type { Environment } from '../environment.js'
import type { Reader } from '../reader.js'

/**
 * Records that one step scans, which takes a few milliseconds during which nothing else commits.
 * The caller pauses between two steps so that others can commit.
 */
export const STEP_RECORDS_MAX = 256

export interface PruneContext {
  readonly environment: Environment
  readonly reader: Reader
  readonly needs: EventNeeds
}

/**
 * @returns a function that tells whether one of the user's endpoints still has to deliver an event
 */
export type EventNeeds = (user: UserId) => (event: StoredEvent) => boolean

/** `count` changes nothing. */
export type Mode = 'remove' | 'count'

export interface Step<Cursor> {
  /** Where the next step continues; null at the end. */
  readonly next: Cursor | null
  readonly pruned: Partial<Pruned>
}
