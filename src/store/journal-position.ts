import { applyRows } from './apply-rows.js'
import { packedRecord } from './encodings/sealing.js'
import type { Environment } from './environment.js'
import { KEY_SPACES, type KeySpace } from './key-spaces.js'
import { INSTANCE_FREEZE } from './readers/freezes.js'
import { putOf, type Row, removalOf } from './rows.js'

/** In `meta`: how far the store is with its journal, and whose that is. */
export const POSITION = 'journal_position'

export interface JournalPosition {
  readonly storeId: string
  /** The store was there before its journal, which so cannot bring it back alone. */
  readonly hasBase: boolean
  /** Of the last entry that was applied whole; 0: none. */
  readonly seq: number
  /** Name of that entry (`journal-entry.ts`): a journal that was set back has another there. */
  readonly last: string
  /** Of this store's own last taking: at a higher one, another service has gone on. 0: none. */
  readonly epoch: number
  /** Of a taking that was begun, written before it: whether it happened, the journal knows. */
  readonly claim: string
  /** Of one before that one which happened, and which this store did not live to hear of; '': none. */
  readonly landed: string
}

/** @returns null for a store that never had a journal */
export function journalPositionOf({ spaces }: Pick<Environment, 'spaces'>): JournalPosition | null {
  const stored = spaces.meta.get(POSITION)
  // Of a build that did not keep it there is none.
  const position = stored as (Omit<JournalPosition, 'landed'> & { landed?: string }) | undefined
  return position === undefined ? null : { landed: '', ...position }
}

/** To be written with the rows of its entry. */
export function positionRow(position: JournalPosition): Row {
  const { storeId, hasBase, seq, last, epoch, claim, landed } = position
  const record = { storeId, hasBase, seq, last, epoch, claim, landed }
  return putOf('meta', POSITION, packedRecord(record))
}

/**
 * To be done where a store is written past its journal, before it is: what is written then is in no
 * entry, so that the two do not go on together as if nothing had been.
 * @returns whether it had one
 */
export async function leaveJournal(environment: Environment): Promise<boolean> {
  if (journalPositionOf(environment) === null) return false
  // What becomes of shares from now on they would not have.
  const shares = [...environment.spaces.sealedShares.getKeys({})]
  const removals = shares.map((wallet) => removalOf('sealedShares', wallet))
  // Without a journal the operator's file alone says it, and lifting it would leave this behind.
  const ofMeta = [POSITION, INSTANCE_FREEZE].map((name) => removalOf('meta', name))
  await applyRows(environment, [...removals, ...ofMeta])
  return true
}

/** But for what `meta` says of it. */
export function isEmptyStore({ spaces }: Pick<Environment, 'spaces'>): boolean {
  return (Object.keys(KEY_SPACES) as KeySpace[]).every(
    (space) => space === 'meta' || [...spaces[space].getKeys({ limit: 1 })].length === 0,
  )
}
