import { createHash } from 'node:crypto'
import { packedRecord } from './encodings/sealing.js'
import type { Environment } from './environment.js'
import { putOf, type Row, removalOf } from './rows.js'

/**
 * To which of those that wait the owner hands the journal over. A row that the owner commits before it
 * leaves, so that each of them has it by then: the one that is named takes the journal, and the others
 * leave it the time to. It ends nobody and decides nothing, which epochs alone do.
 */
export interface JournalMove {
  /** Of the owner that said it; of another one it says nothing. */
  readonly epoch: number
  /** `nodeIdOf` the one that is named. */
  readonly to: string
}

/**
 * The owner is to end, and names nobody: those that could take the journal over say so to it by the link of
 * the nodes, and it ends once one has. It holds back itself when it is back, and waits, before they took it.
 */
export interface JournalDrain {
  /** As of a move. */
  readonly epoch: number
  /** `nodeIdOf` the owner. */
  readonly from: string
  /** Drawn anew each time, so that no answer to an earlier question counts; empty: nobody is asked. */
  readonly asked: string
}

/** In `meta`. */
const JOURNAL_MOVE = 'journal_move'
const JOURNAL_DRAIN = 'journal_drain'

/**
 * Since the last that was seen of the owner. One that is named and lives takes the journal within a second,
 * as one of those does that wait for a node that was drained; of one that does not, whoever is there takes
 * the place, be it the node that was drained.
 */
export const MOVE_HELD_MS = 10_000

const ID_CHARS = 16

/** Of a node by what others know it by: no more of that than whoever asks it may know. */
export function nodeIdOf(node: string): string {
  return createHash('sha256').update(node).digest('hex').slice(0, ID_CHARS)
}

/** @returns null where none was said, or none that can be read */
export function journalMoveOf({ spaces }: Pick<Environment, 'spaces'>): JournalMove | null {
  const { epoch, to } = Object(spaces.meta.get(JOURNAL_MOVE)) as Partial<JournalMove>
  return typeof epoch === 'number' && typeof to === 'string' ? { epoch, to } : null
}

export const moveRow = ({ epoch, to }: JournalMove): Row =>
  putOf('meta', JOURNAL_MOVE, packedRecord({ epoch, to }))

export const noMoveRow = (): Row => removalOf('meta', JOURNAL_MOVE)

/** @returns null where none was said, or none that can be read */
export function journalDrainOf({ spaces }: Pick<Environment, 'spaces'>): JournalDrain | null {
  const said = Object(spaces.meta.get(JOURNAL_DRAIN)) as Partial<JournalDrain>
  const { epoch, from, asked } = said
  const isOne = typeof epoch === 'number' && typeof from === 'string' && typeof asked === 'string'
  return isOne ? { epoch, from, asked } : null
}

export const drainRow = ({ epoch, from, asked }: JournalDrain): Row =>
  putOf('meta', JOURNAL_DRAIN, packedRecord({ epoch, from, asked }))

export const noDrainRow = (): Row => removalOf('meta', JOURNAL_DRAIN)
