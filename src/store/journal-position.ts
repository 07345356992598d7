import { applyRows } from './apply-rows.js'
import { packedRecord } from './encodings/sealing.js'
import type { Environment } from './environment.js'
import { KEY_SPACES, type KeySpace } from './key-spaces.js'
import { INSTANCE_FREEZE } from './readers/freezes.js'
import { putOf, type Row, removalOf } from './rows.js'

/** The key in `meta` of the store's position in its journal, and that journal's id. */
export const POSITION = 'journal_position'

export interface JournalPosition {
  readonly storeId: string
  /** The store existed before its journal, so the journal cannot restore it by itself. */
  readonly hasBase: boolean
  /** The last entry that was applied whole; 0 if none was. */
  readonly seq: number
  /**
   * Name of that entry (`journal-entry.ts`); a journal that was rolled back has another one there.
   */
  readonly last: string
  /**
   * The epoch in which this store last acquired the journal; at a higher one, another service
   * leads. 0 if it never did.
   */
  readonly epoch: number
  /**
   * Claim of an attempt to acquire the journal, written before it. Only the journal knows whether
   * it succeeded.
   */
  readonly claim: string
  /**
   * Claim of an earlier attempt that succeeded although this store ended before it learned so;
   * empty if none did.
   */
  readonly landed: string
}

/** @returns null for a store that never had a journal */
export function journalPositionOf({ spaces }: Pick<Environment, 'spaces'>): JournalPosition | null {
  const stored = spaces.meta.get(POSITION)
  // Stores of earlier builds do not have the field `landed`.
  const position = stored as (Omit<JournalPosition, 'landed'> & { landed?: string }) | undefined
  return position === undefined ? null : { landed: '', ...position }
}

/** Write it with the rows of its entry. */
export function positionRow(position: JournalPosition): Row {
  const { storeId, hasBase, seq, last, epoch, claim, landed } = position
  const record = { storeId, hasBase, seq, last, epoch, claim, landed }
  return putOf('meta', POSITION, packedRecord(record))
}

/**
 * Detaches a store from its journal. Do it before the store is written without the journal: no
 * entry has those writes, so the two must not continue together as if nothing had happened.
 * @returns whether it had a journal
 */
export async function leaveJournal(environment: Environment): Promise<boolean> {
  if (journalPositionOf(environment) === null) return false
  // These copies of shares would miss every later change of the shares.
  const shares = [...environment.spaces.sealedShares.getKeys({})]
  const removals = shares.map((wallet) => removalOf('sealedShares', wallet))
  // Without a journal the freeze is only in the operator's file. If this row stayed, lifting the
  // freeze would not remove it.
  const ofMeta = [POSITION, INSTANCE_FREEZE].map((name) => removalOf('meta', name))
  await applyRows(environment, [...removals, ...ofMeta])
  return true
}

/** Whether the store has no records outside `meta`. */
export function isEmptyStore({ spaces }: Pick<Environment, 'spaces'>): boolean {
  return (Object.keys(KEY_SPACES) as KeySpace[]).every(
    (space) => space === 'meta' || [...spaces[space].getKeys({ limit: 1 })].length === 0,
  )
}
