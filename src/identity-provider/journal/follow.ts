import { unpackWrite } from '../../disk/recorded-writes.js'
import { type Journal, JournalTrimmed } from '../../journal/journal.js'
import { proven } from '../../journal/proven.js'
import { decodeEntry, type JournaledWrite, nameOfEntry, type Sealer } from './entry.js'
import type { JournaledStore, JournaledStores, Position } from './stores.js'

export interface FollowContext {
  readonly journal: Pick<Journal, 'read' | 'trim'>
  readonly partition: number
  readonly stores: JournaledStores
  readonly sealer: Sealer
}

/** How much is read and applied at once. */
const READ_BYTES_MAX = 4 * 1024 * 1024

export const COPY_ANEW =
  "make this home again from the leader's: run `countersign cluster add-node --domain user --to DIR` there"

/**
 * Applies the journal's entries to the stores. If this home led the journal before, writes that
 * never reached the journal are undone where the next leader's entries begin: no caller had an
 * answer that depended on them. The journal must be closed for new entries up to `end`, because
 * leadership was acquired or the leader reported that end. Entries that the stores already have are
 * applied again, which changes nothing.
 * @param end seq of the entry to stop at
 * @param epoch the present leader's epoch
 * @returns the stores' position, below `end` only when the last transaction is incomplete
 * @throws Error when journal and stores do not belong together; the message tells what to do
 */
export async function followJournal(
  { journal, partition, stores, sealer }: FollowContext,
  start: Position,
  end: number,
  epoch: number,
): Promise<{ readonly position: Position; readonly last: string }> {
  let position = start
  if (position.seq > end) throw await proven(journal, partition, setBack(position.seq))
  let { last } = position
  let mayHaveLeft = epoch > start.epoch
  let writer = 0
  let whole: JournaledWrite[] = []
  let parts: JournaledWrite[] = []
  for (let after = position.seq; after < end; ) {
    const entries = await read(journal, partition, after)
    if (entries.length === 0) {
      throw await proven(journal, partition, new Error(`the journal ends before its entry ${end}`))
    }
    for (const { seq, body, epoch: of } of entries) {
      if (seq > end) break
      // A transaction that its leader did not complete never happened, also for the next leader.
      if (of !== writer) parts = []
      writer = of
      if (mayHaveLeft && of > start.epoch) {
        mayHaveLeft = false
        await apply(stores, whole, position)
        await undoLeftovers(stores, position)
        whole = []
      }
      const entry = decodeEntry(seq, body, sealer)
      if (entry.journal !== position.journal)
        throw new Error(`the journal is another one: ${OTHER}`)
      if (entry.previous !== last) throw setBack(after)
      last = nameOfEntry(body)
      after = seq
      for (const write of entry.writes) parts.push(write)
      if (entry.isPart) continue
      for (const write of parts) whole.push(write)
      parts = []
      position = { ...position, seq, last }
    }
    await apply(stores, whole, position)
    whole = []
  }
  await stores.markAll(position)
  // A leader's first entry follows everything stored before it, so this home's entries are all
  // applied.
  if (mayHaveLeft) await undoLeftovers(stores, position)
  return { position, last }
}

/**
 * Checks that the journal holds the stores' last entry at its place.
 * @throws Error as `followJournal`
 */
export async function checkBelongs(
  { journal, partition, sealer }: Pick<FollowContext, 'journal' | 'partition' | 'sealer'>,
  { seq, last, journal: id }: Position,
): Promise<void> {
  // If that entry was trimmed, the entry after it names it.
  const [first] = await read(journal, partition, Math.max(0, seq - 1)).catch(() =>
    read(journal, partition, seq),
  )
  if (first === undefined) {
    if (seq > 0) throw await proven(journal, partition, setBack(seq))
    return
  }
  const entry = decodeEntry(first.seq, first.body, sealer)
  if (entry.journal !== id) throw new Error(`the journal is another one: ${OTHER}`)
  const name = first.seq === seq ? nameOfEntry(first.body) : entry.previous
  if (seq > 0 && name !== last) throw await proven(journal, partition, setBack(seq))
}

/**
 * Undoes writes that the journal lacks, after another home has led it. Call it when the stores have
 * all of this home's entries and none of the next leader's.
 */
async function undoLeftovers({ all }: JournaledStores, position: Position): Promise<void> {
  for (const { writes, commit } of all) {
    const left = [...writes.all()].reverse()
    if (left.length === 0) continue
    await commit(position, ({ put, forget }) => {
      for (const { number, undo } of left) {
        put(unpackWrite(undo))
        forget(number)
      }
    })
  }
}

/**
 * Repeats this home's last writes when it leads again itself: they win over entries applied in
 * between.
 */
export async function writeLeftoversAgain(
  { all }: JournaledStores,
  position: Position,
): Promise<void> {
  for (const { writes, commit } of all) {
    const left = [...writes.all()]
    await commit(position, ({ put }) => {
      for (const { packed } of left) put(unpackWrite(packed))
    })
  }
}

async function apply(
  { all }: JournaledStores,
  writes: readonly JournaledWrite[],
  position: Position,
): Promise<void> {
  const byStore = all.map((): JournaledWrite[] => [])
  for (const write of writes) {
    const its = byStore[write.store]
    if (its === undefined) throw new Error(`the journal has writes of a store ${write.store}`)
    its.push(write)
  }
  for (const [number, store] of all.entries()) {
    const its = byStore[number] ?? []
    if (its.length > 0) await applyTo(store, its, position)
  }
}

async function applyTo(
  { writes: own, commit }: JournaledStore,
  writes: readonly JournaledWrite[],
  position: Position,
): Promise<void> {
  await commit(position, ({ put, forget }) => {
    for (const { number, packed } of writes) {
      put(unpackWrite(packed))
      // The write comes from a copy of the leader's stores or from a former leader; the journal has
      // it.
      const left = own.get(number)
      if (left !== undefined && Buffer.compare(left.packed, packed) === 0) forget(number)
    }
  })
}

const OTHER = `name the engine that holds this home's journal, or ${COPY_ANEW}`

function setBack(seq: number): Error {
  return new Error(
    `this home has an entry ${seq} that its journal lacks: the journal is another one, or was rolled back, for example by a database backup. Restore the right database, or ${COPY_ANEW}`,
  )
}

async function read(journal: Pick<Journal, 'read'>, partition: number, after: number) {
  try {
    return await journal.read(partition, after, READ_BYTES_MAX)
  } catch (cause) {
    if (!(cause instanceof JournalTrimmed)) throw cause
    throw new Error(`the journal has trimmed entries that this home still needs: ${COPY_ANEW}`, {
      cause,
    })
  }
}
