import type { Timers } from '../clock/timers.js'
import { type Cell, ONE_CELL } from '../domain/cells.js'
import { appendUntilKnown } from '../journal/append-until-known.js'
import { askUntilAvailable } from '../journal/ask-until-available.js'
import type { Journal, JournalHead, Taken } from '../journal/journal.js'
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

/** Of the journal, where all users are of one cell: each cell's commits are one of its partitions. */
export const PARTITION = ONE_CELL.number

/** In hex, of a claim that nobody else draws. */
const CLAIM_BYTES = 16

/** Another service went on with the journal, so this store is not the one that writes it. */
export class JournalHasSuccessor extends Error {
  override readonly name = 'JournalHasSuccessor'

  constructor({ epoch, owner }: JournalHead) {
    const where = owner === null ? '' : `, at ${owner.node},`
    super(`another service${where} has taken this store's journal over, with epoch ${epoch}`)
  }
}

export interface JournaledStoreOptions {
  readonly environment: Environment
  readonly journal: Journal
  /** Whose users the store has. Default: all. */
  readonly cell?: Cell
  /** For people: who took it. */
  readonly node: string
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed' | 'random'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  readonly fatal: (error: unknown) => void
  readonly appended?: (elapsedMs: number) => void
  /** As of `createJournalWriter`. */
  readonly stored?: (epoch: number, seq: number) => void
  readonly contentBytesMax?: number
  /** Of the one owner that may be ended though it came after this store's own; null: none may. */
  readonly overtakes: number | null
  /** Takes it from that one and from nobody else. */
  readonly isStandby?: boolean
  /** Of what is asked of a journal that does not answer, a second apart. Default: 30. */
  readonly triesMax?: number
  /** Told as soon as it is the owner, which may then have long to follow. */
  readonly taken?: (taken: Taken) => void
}

/**
 * Takes the journal of a store, which ends the service that had it, brings the store up to its end,
 * and writes both from then on. To be done before anything reads the store.
 *
 * A store that was the owner's takes it from itself alone: where another took it since, as while
 * this machine was thought dead, it would end that one, and hold neither the wallets nor the keys
 * that were made there. An empty store takes it from anybody: somebody has removed what was there.
 * @throws JournalHasSuccessor where another has taken it, and is not the one that may be ended
 * @throws Error where they do not belong together, with what to do
 * @throws JournalUnavailable where it does not answer for half a minute
 */
export async function openJournaledStore(options: JournaledStoreOptions): Promise<JournalWriter> {
  const { environment, journal, log, overtakes, isStandby = false, cell = ONE_CELL } = options
  const partition = cell.number
  // To take it ends the service that has it: not for a store that could not go on with it.
  await whenAvailable(options, () => wayToEnd({ ...options, partition }))
  const head = await whenAvailable(options, () => journal.look(partition))
  const known = journalPositionOf(environment)
  requireOwnUsers(environment, cell)
  const isFree = !isStandby && (known === null || isOwn(known, head))
  if (!isFree && overtakes !== head.epoch) {
    throw new JournalHasSuccessor(head)
  }
  const { taken, claim } = await take(options, known, head)
  options.taken?.(taken)
  const { epoch, seq: end } = taken
  const start = { ...(known ?? newPosition(options, end)), epoch, claim, landed: '' }
  // With a name of its own at once; an empty one stays empty until it has one.
  if (start.storeId !== '') await applyRows(environment, [positionRow(start)])
  const { position, last } = await bringToEnd(options, end, start)
  // What the journal brought may be of others than this node's file says.
  requireOwnUsers(environment, cell)
  log.info({ epoch, seq: end }, 'the journal is taken, and the store is at its end')
  const writes = { ...options, partition, epoch }
  const isBegun = !position.hasBase || end > 0
  const at = isBegun ? { position, last, seq: end } : await beginBehindBase(options, position)
  const writer = createJournalWriter({ ...writes, ...at })
  if (isUnsaid(environment, cell)) await writer.commit(encodeRows([storeCellRow(cell)]))
  return writer
}

/** By entries alone, or from the snapshot where that is the way: over again where that is trimmed beyond. */
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

/** Whether the last taking was this store's, be it that it did not live to hear of it. */
function isOwn({ epoch, claim, landed }: JournalPosition, head: JournalHead): boolean {
  const of = head.owner?.claim
  return head.epoch <= epoch || of === claim || of === landed
}

/** @param head from whom it is taken: somebody else who comes first keeps it */
async function take(
  options: JournaledStoreOptions,
  known: JournalPosition | null,
  head: JournalHead,
): Promise<{ readonly taken: Taken; readonly claim: string }> {
  const { environment, journal, node, timers, cell = ONE_CELL } = options
  const claim = Buffer.from(timers.random.bytes(CLAIM_BYTES)).toString('hex')
  if (known !== null) {
    // One that happened stays known until this one has.
    const landed = isOwn(known, head) ? (head.owner?.claim ?? '') : ''
    await applyRows(environment, [positionRow({ ...known, claim, landed })])
  }
  const taken = await whenAvailable(options, () =>
    journal.take(cell.number, node, claim, head.epoch),
  )
  return { taken, claim }
}

/**
 * Of a store that never had a journal; an empty one takes its name from the journal's entries.
 * @param end seq of the last of them
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
    options.log.warn({ err, tries }, 'the journal does not answer: it is asked again'),
  )
}

/** So that no empty store follows a journal that does not hold all there was. */
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
