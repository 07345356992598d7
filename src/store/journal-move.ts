import { createHash } from 'node:crypto'
import { packedRecord } from './encodings/sealing.js'
import type { Environment } from './environment.js'
import { putOf, type Row, removalOf } from './rows.js'

/**
 * The leader hands the journal over to a named standby. It commits this row before it leaves, so
 * every standby has it by then: the named one acquires the journal, and the others give it the time
 * to. The row is advisory; only epochs decide who leads.
 */
interface JournalMove {
  /** Epoch of the leader that wrote it; the row has no effect under another leader. */
  readonly epoch: number
  /** The result of `nodeIdOf` for the named node. */
  readonly to: string
}

/**
 * The leader is about to end and names no successor. Standbys that could take over tell it so over
 * the link between nodes, and it ends once one has. If it returns as a standby before another took
 * over, it waits as well.
 */
export interface JournalDrain {
  /** As in `JournalMove`. */
  readonly epoch: number
  /** The result of `nodeIdOf` for the leader. */
  readonly from: string
  /**
   * Drawn each time, so that no answer to an earlier question counts; empty if the leader asks
   * none.
   */
  readonly asked: string
}

/**
 * The number of failovers since a leader last stayed for long enough. Each leader that takes over
 * adds one, and removes the row once it has stayed. Standbys hold back when failovers follow one
 * another, even if each node was restarted in between.
 */
export interface Failovers {
  readonly count: number
}

/** The keys of these rows in `meta`. */
const FAILOVERS = 'journal_take_overs'
const JOURNAL_MOVE = 'journal_move'
const JOURNAL_DRAIN = 'journal_drain'

/**
 * Time since the last sign of the leader. A named standby that lives acquires the journal within a
 * second, and so does one of those that wait for a drained leader. After this time any standby may,
 * even the node that was drained.
 */
export const MOVE_HELD_MS = 10_000

const ID_CHARS = 16

/**
 * The id of a node, derived from its address so that callers of /readyz do not learn the address.
 */
export function nodeIdOf(node: string): string {
  return createHash('sha256').update(node).digest('hex').slice(0, ID_CHARS)
}

/** @returns null if no such row exists or it cannot be read */
export function journalMoveOf({ spaces }: Pick<Environment, 'spaces'>): JournalMove | null {
  const { epoch, to } = Object(spaces.meta.get(JOURNAL_MOVE)) as Partial<JournalMove>
  return typeof epoch === 'number' && typeof to === 'string' ? { epoch, to } : null
}

export const moveRow = ({ epoch, to }: JournalMove): Row =>
  putOf('meta', JOURNAL_MOVE, packedRecord({ epoch, to }))

export const noMoveRow = (): Row => removalOf('meta', JOURNAL_MOVE)

/** @returns null if no such row exists or it cannot be read */
export function journalDrainOf({ spaces }: Pick<Environment, 'spaces'>): JournalDrain | null {
  const said = Object(spaces.meta.get(JOURNAL_DRAIN)) as Partial<JournalDrain>
  const { epoch, from, asked } = said
  const isOne = typeof epoch === 'number' && typeof from === 'string' && typeof asked === 'string'
  return isOne ? { epoch, from, asked } : null
}

export const drainRow = ({ epoch, from, asked }: JournalDrain): Row =>
  putOf('meta', JOURNAL_DRAIN, packedRecord({ epoch, from, asked }))

export const noDrainRow = (): Row => removalOf('meta', JOURNAL_DRAIN)

/** @returns 0 if no such row exists or it cannot be read */
export function failoversOf({ spaces }: Pick<Environment, 'spaces'>): number {
  const { count } = Object(spaces.meta.get(FAILOVERS)) as Partial<Failovers>
  return typeof count === 'number' ? count : 0
}

export const failoversRow = (count: number): Row =>
  putOf('meta', FAILOVERS, packedRecord({ count } satisfies Failovers))

export const noFailoversRow = (): Row => removalOf('meta', FAILOVERS)
