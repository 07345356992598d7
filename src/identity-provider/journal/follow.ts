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

/** Read and applied at once. */
const READ_BYTES_MAX = 4 * 1024 * 1024

export const COPY_ANEW =
  'make this home anew out of the one of its owner: countersign cluster add-node --domain user --to DIR there'

/**
 * Brings the stores further along the journal, of which this home may have been the owner. What that one
 * wrote and did not get to store is taken back where another's entries begin: nobody was told of it.
 * Nothing may be stored at or below that end any more: it
 * was taken, or its owner said so. What the stores have already comes to be there once more.
 * @param end seq of the entry to stop at
 * @param epoch of the owner there is
 * @returns where they are then: below the end only by parts of what was never stored whole
 * @throws Error where the two do not belong together, with what to do
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
      // What an owner began and did not end is nothing, also to the owner after it.
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
  // The owner's first word says what was stored before it, so that all of this home's is there.
  if (mayHaveLeft) await undoLeftovers(stores, position)
  return { position, last }
}

/**
 * Whether the journal has the stores' last entry, and no other in that place.
 * @throws Error as `followJournal`
 */
export async function checkBelongs(
  { journal, partition, sealer }: Pick<FollowContext, 'journal' | 'partition' | 'sealer'>,
  { seq, last, journal: id }: Position,
): Promise<void> {
  // Where that one is forgotten, the one after it names it.
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
 * Takes back what the journal does not have, of a home that another has gone on from: to be done where the
 * stores have all of its own entries, and none of that one's yet.
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

/** Of a home that goes on from itself: what it wrote last holds, whatever came in between once more. */
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
      // Of a copy of its owner's stores, or of a former owner: the journal has it.
      const left = own.get(number)
      if (left !== undefined && Buffer.compare(left.packed, packed) === 0) forget(number)
    }
  })
}

const OTHER = `name the engine that this home had its journal in, or ${COPY_ANEW}`

function setBack(seq: number): Error {
  return new Error(
    `this home has an entry ${seq} that its journal does not have: it is another journal, or one that was set back, as by a backup of its database. Put the database right, or ${COPY_ANEW}`,
  )
}

async function read(journal: Pick<Journal, 'read'>, partition: number, after: number) {
  try {
    return await journal.read(partition, after, READ_BYTES_MAX)
  } catch (cause) {
    if (!(cause instanceof JournalTrimmed)) throw cause
    throw new Error(`the journal no longer has what this home is behind by: ${COPY_ANEW}`, {
      cause,
    })
  }
}
