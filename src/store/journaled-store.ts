import type { Timers } from '../clock/timers.js'
import { type Cell, ONE_CELL } from '../domain/cells.js'
import { appendUntilKnown } from '../journal/append-until-known.js'
import { askUntilAvailable } from '../journal/ask-until-available.js'
import type { Acquisition, Journal, JournalHead } from '../journal/journal.js'
import { applyRows } from './apply-rows.js'
import type { Environment } from './environment.js'
import {
  type Followed,
  followJournal,
  NO_POSITION,
  ofTwo,
  StoreTooFarBehind,
} from './follow-journal.js'
import { encodeEntry, NO_ENTRY, nameOfEntry, STORE_ID_BYTES } from './journal-entry.js'
import {
  isEmptyStore,
  type JournalPosition,
  journalPositionOf,
  positionRow,
} from './journal-position.js'
import { createJournalWriter, type JournalWriter } from './journal-writer.js'
import { encodeRows } from './rows-encoding.js'
import { restoreSnapshot } from './snapshots/restore-snapshot.js'
import { wayToEnd } from './snapshots/way-to-end.js'
import { isUnsaid, requireOwnUsers, storeCellRow } from './store-cell.js'

/**
 * The journal's partition when all users belong to one cell; each cell's commits have one
 * partition.
 */
export const PARTITION = ONE_CELL.number

/** Length of a claim, which is random, so no two are equal. Written in hex. */
const CLAIM_BYTES = 16

/** Another service leads the journal now, so this store must not write it. */
export class JournalHasSuccessor extends Error {
  override readonly name = 'JournalHasSuccessor'

  constructor({ epoch, owner }: JournalHead) {
    const where = owner === null ? '' : `, at ${owner.node},`
    super(`another service${where} has acquired this store's journal, with epoch ${epoch}`)
  }
}

export interface JournaledStoreOptions {
  readonly environment: Environment
  readonly journal: Journal
  /** The cell whose users the store has. Defaults to all users. */
  readonly cell?: Cell
  /** The node's address, recorded in the journal for people. */
  readonly node: string
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed' | 'random'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  readonly fatal: (error: unknown) => void
  readonly appended?: (elapsedMs: number) => void
  /** As in `createJournalWriter`. */
  readonly stored?: (epoch: number, seq: number) => void
  readonly contentBytesMax?: number
  /**
   * Epoch of the one later leader that may be fenced although it came after this store; null if
   * none may.
   */
  readonly overtakes: number | null
  /** Acquires the journal from that leader only. */
  readonly isStandby?: boolean
  /** How often an unavailable journal is tried, a second apart. Defaults to 30. */
  readonly triesMax?: number
  /** Called as soon as this store leads, which may then have many entries to apply. */
  readonly acquired?: (acquisition: Acquisition) => void
}

/**
 * Acquires the journal of a store, which fences the service that led it, applies the journal's
 * entries to the store, and then writes both. Call it before anything reads the store.
 *
 * A store that led the journal acquires it only from itself. If another service acquired it since,
 * for example while this machine was thought dead, this store would depose that one without having
 * the wallets and keys that were created there. An empty store acquires it from any leader, because
 * somebody removed its contents.
 * @throws JournalHasSuccessor if another service acquired it and may not be fenced
 * @throws Error if the two do not belong together, with what to do
 * @throws JournalUnavailable if it does not answer for half a minute
 */
export async function openJournaledStore(options: JournaledStoreOptions): Promise<JournalWriter> {
  const { environment, journal, log, overtakes, isStandby = false, cell = ONE_CELL } = options
  const partition = cell.number
  // Acquiring the journal fences its leader, so a store that could not continue with it must not.
  await whenAvailable(options, () => wayToEnd({ ...options, partition }))
  const head = await whenAvailable(options, () => journal.readHead(partition))
  const known = journalPositionOf(environment)
  requireOwnUsers(environment, cell)
  const isFree = !isStandby && (known === null || isOwn(known, head))
  if (!isFree && overtakes !== head.epoch) {
    throw new JournalHasSuccessor(head)
  }
  const { acquisition, claim } = await acquire(options, known, head)
  options.acquired?.(acquisition)
  const { epoch, seq: end } = acquisition
  const start = { ...(known ?? newPosition(options, end)), epoch, claim, landed: '' }
  // A store with an id records the epoch at once; an empty one stays empty until it has an id.
  if (start.storeId !== '') await applyRows(environment, [positionRow(start)])
  const { position, last } = await bringToEnd(options, end, start)
  // The entries may belong to users of another cell than this node's file names.
  requireOwnUsers(environment, cell)
  log.info({ epoch, seq: end }, 'the journal is acquired, and the store is up to date')
  const writes = { ...options, partition, epoch }
  const isBegun = !position.hasBase || end > 0
  const at = isBegun ? { position, last, seq: end } : await beginBehindBase(options, position)
  const writer = createJournalWriter({ ...writes, ...at })
  if (isUnsaid(environment, cell)) await writer.commit(encodeRows([storeCellRow(cell)]))
  return writer
}

/**
 * Applies entries, from a snapshot if needed. It starts again if the journal was trimmed beyond the
 * position reached.
 */
async function bringToEnd(
  options: JournaledStoreOptions,
  end: number,
  start: JournalPosition,
): Promise<Followed> {
  const { environment, journal, cell = ONE_CELL } = options
  const partition = cell.number
  for (let position = start; ; ) {
    const restoring = await whenAvailable(options, () => wayToEnd({ ...options, partition }))
    if (restoring !== null) position = await restoreSnapshot(restoring, position)
    try {
      return await followJournal(environment, journal, partition, end, position)
    } catch (error) {
      if (!(error instanceof StoreTooFarBehind)) throw error
      position = journalPositionOf(environment) ?? position
    }
  }
}

/** Whether this store acquired the journal last, even if it ended before it learned so. */
function isOwn({ epoch, claim, landed }: JournalPosition, head: JournalHead): boolean {
  const of = head.owner?.claim
  return head.epoch <= epoch || of === claim || of === landed
}

/**
 * @param head the leader to depose; if another node acquires the journal first, that node keeps it
 */
async function acquire(
  options: JournaledStoreOptions,
  known: JournalPosition | null,
  head: JournalHead,
): Promise<{ readonly acquisition: Acquisition; readonly claim: string }> {
  const { environment, journal, node, timers, cell = ONE_CELL } = options
  const claim = Buffer.from(timers.random.bytes(CLAIM_BYTES)).toString('hex')
  if (known !== null) {
    // A successful earlier attempt stays recorded until this one has succeeded.
    const landed = isOwn(known, head) ? (head.owner?.claim ?? '') : ''
    await applyRows(environment, [positionRow({ ...known, claim, landed })])
  }
  const acquisition = await whenAvailable(options, () =>
    journal.acquire(cell.number, node, claim, head.epoch),
  )
  return { acquisition, claim }
}

/**
 * The first position of a store that never had a journal. An empty store takes its id from the
 * journal's entries.
 * @param end seq of the last entry
 */
function newPosition({ environment, timers }: JournaledStoreOptions, end: number): JournalPosition {
  const isEmpty = isEmptyStore(environment)
  if (end > 0 && !isEmpty) throw ofTwo()
  if (end > 0) return NO_POSITION
  const storeId = Buffer.from(timers.random.bytes(STORE_ID_BYTES)).toString('hex')
  return { ...NO_POSITION, storeId, hasBase: !isEmpty }
}

function whenAvailable<T>(options: JournaledStoreOptions, ask: () => Promise<T>): Promise<T> {
  return askUntilAvailable(options, ask, (err, tries) =>
    options.log.warn({ err, tries }, 'the journal does not answer; trying again'),
  )
}

/** Marks that the journal does not contain everything, so that no empty store follows it. */
async function beginBehindBase(
  options: JournaledStoreOptions,
  found: JournalPosition,
): Promise<Followed & { readonly seq: number }> {
  const seq = 1
  const { storeId, epoch } = found
  const { cell = ONE_CELL } = options
  const body = encodeEntry({
    ...{ storeId, isBase: true, part: 0, isLast: true },
    ...{ previous: NO_ENTRY, content: new Uint8Array(0) },
  })
  await appendUntilKnown(options, { partition: cell.number, epoch, seq }, body)
  const position = { ...found, seq, last: nameOfEntry(body) }
  await applyRows(options.environment, [positionRow(position)])
  return { position, last: position.last, seq }
}
