import type { Alarm, Timers } from '../../clock/timers.js'
import {
  type AppendContext,
  appendUntilKnown,
  JournalFenced,
} from '../../journal/append-until-known.js'
import { BODY_BYTES_MAX, type Journal } from '../../journal/journal.js'
import { encodeEntry, type JournaledWrite, nameOfEntry, type Sealer } from './entry.js'
import type { JournaledStores, Position } from './stores.js'

/**
 * The one writer of the user side's journal. What the user side decides is written to its stores first,
 * and an answer waits until the journal has all that was written before it: nobody has heard of what the
 * next owner does not know.
 *
 * An owner that has not seen for a while that it is still the owner decides nothing: it may have been
 * taken over from while it stood still.
 */
export interface UserSideJournal {
  /** Null: the journal has all that is on disk here. Rejects where it will never have it. */
  settled(): Promise<void> | null
  /** False: another may own the journal by now, so that nothing may be decided. */
  isOwner(): boolean
  readonly readings: WriterReadings
  /** Resolves once it was seen to be the owner. */
  readonly proven: Promise<void>
  /** Resolves once the journal has all, or was not in time, and a standby need not wait. */
  close(): Promise<void>
}

export interface WriterReadings {
  readonly epoch: number
  /** Of the last entry that is stored. */
  readonly stored: number
  /** Writes that wait to be stored, those under way included. */
  readonly waiting: number
}

export interface WriterOptions extends AppendContext {
  readonly journal: Pick<Journal, 'append' | 'look'>
  readonly partition: number
  readonly stores: JournaledStores
  readonly sealer: Sealer
  /** Of the taking that made it the owner, and the end of what there is. */
  readonly position: Position
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  /** Fenced: the process has to end. */
  readonly fatal: (error: unknown) => void
}

/** The journal has not answered for a while: another may own it by now. */
export class OwnerUnsure extends Error {
  override readonly name = 'OwnerUnsure'

  constructor() {
    super('another may own the journal by now')
  }
}

/** Of an entry's writes, before it is sealed. */
const ENTRY_BYTES_MAX = BODY_BYTES_MAX / 4
/** What else writes to the stores is looked for. */
const LOOK_FOR_WRITES_MS = 250
/** What the journal has is forgotten here in groups: each waits for the disk. */
const FORGET_AFTER_MS = 1_000
/** Stores that nothing was written to say as rarely how far they are. */
const MARK_AFTER_MS = 30_000

const LOOK_AT_OWNER_MS = 500
/** Below the silence after which another takes over. */
const UNSEEN_MS_MAX = 1_500

export function createUserSideWriter(options: WriterOptions): UserSideJournal {
  const { journal, partition, stores, sealer, timers } = options
  const { epoch } = options.position
  let { seq, last } = options.position
  /** Of the last entry behind which all is whole. */
  let whole = { seq, last }
  const places = stores.all.map((store) => ({
    store,
    /** Numbers of writes that were taken for an entry and are not forgotten. */
    taken: new Set<number>(),
    /** Of those, what an entry has that is stored. */
    stored: [] as number[],
  }))
  let queued: JournaledWrite[] = []
  let appending = 0
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  let seenMs = Number.NEGATIVE_INFINITY
  let prove = (): void => undefined
  const proven = new Promise<void>((resolve) => {
    prove = resolve
  })
  let isOver = false
  let isClosed = false
  let ended: unknown = null

  function end(error: unknown): void {
    if (isOver) return
    isOver = true
    ended = error
    options.fatal(error)
  }

  /**
   * Takes what this process has written and is on disk. Over again until nothing has come to be there
   * meanwhile: what was written to one store before something else to another is then never left out of
   * what that one is taken with.
   */
  function take(): void {
    for (let isNew = true; isNew; ) {
      isNew = false
      for (const place of places) {
        const { made } = place.store.writes
        if (place.store.isShared) isNew = takeAll(place) || isNew
        else if (made.size > 0) {
          isNew =
            takeOf(
              place,
              [...made].sort((a, b) => a - b),
            ) || isNew
        }
      }
    }
  }

  /** With what the run before has left, and what other processes have written. @returns whether any was new */
  function takeAll(place: (typeof places)[number]): boolean {
    const { numbers } = place.store.writes
    return takeOf(
      place,
      [...numbers()].filter((number) => !place.taken.has(number)),
    )
  }

  function takeOf(place: (typeof places)[number], numbers: readonly number[]): boolean {
    const { made, get } = place.store.writes
    let isNew = false
    for (const number of numbers) {
      const write = get(number)
      if (write === undefined) continue
      made.delete(number)
      queue(place, number, write.packed)
      isNew = true
    }
    return isNew
  }

  function queue(place: (typeof places)[number], number: number, packed: Buffer): void {
    place.taken.add(number)
    queued.push({ store: places.indexOf(place), number, packed: Buffer.from(packed) })
  }

  async function append(): Promise<void> {
    const writes = queued
    queued = []
    appending = writes.length
    for (const [part, isLast] of parts(writes)) {
      const { journal: id } = options.position
      const entry = { journal: id, previous: last, isPart: !isLast, writes: part }
      const body = encodeEntry(entry, sealer)
      const asked = timers.elapsed()
      await appendUntilKnown(options, { partition, epoch, seq: seq + 1 }, body)
      seenMs = Math.max(seenMs, asked)
      seq++
      last = nameOfEntry(body)
    }
    whole = { seq, last }
    for (const { store, number } of writes) places[store]?.stored.push(number)
    appending = 0
    forgetAlarm ??= forgetIn(FORGET_AFTER_MS)
    // Where nothing more comes for a week, entries that a store is behind by are trimmed.
    markAlarm ??= forgetIn(MARK_AFTER_MS)
  }

  /** @returns once what is queued is stored */
  function store(): Promise<void> {
    if (running === null) {
      running = append().finally(() => {
        running = null
      })
      running.catch(end)
      return running
    }
    next ??= running.then(() => {
      next = null
      // Somebody else may have begun the next one since.
      return queued.length > 0 ? store() : (running ?? undefined)
    })
    next.catch(() => undefined)
    return next
  }

  let forgetAlarm: Alarm | null = null
  let markAlarm: Alarm | null = null
  let forgetting: Promise<unknown> = Promise.resolve()
  function forgetIn(ms: number): Alarm {
    const isForAll = ms === MARK_AFTER_MS
    return timers.at(timers.now() + ms, () => {
      if (isForAll) markAlarm = null
      else forgetAlarm = null
      if (isClosed) return
      forgetting = forgetting.then(() => forget(isForAll))
    })
  }

  /**
   * What entries have that are stored by now. What fails is tried again, and the store is no further then.
   * @param isForAll stores that nothing was written to say how far they are, too
   */
  async function forget(isForAll: boolean): Promise<void> {
    const position: Position = { ...options.position, ...whole }
    const known = places.map((place) => {
      const numbers = place.stored
      place.stored = []
      return { place, numbers }
    })
    for (const { place, numbers } of known) {
      if (numbers.length === 0 && !isForAll) continue
      try {
        await place.store.commit(position, ({ forget: one }) => {
          for (const number of numbers) one(number)
        })
      } catch (err) {
        place.stored = [...numbers, ...place.stored]
        options.log.warn({ err, store: place.store.name }, 'what the journal has was not forgotten')
        continue
      }
      for (const number of numbers) place.taken.delete(number)
    }
  }

  /** Until the journal has all that is on disk here; null: it has. */
  function storing(): Promise<void> | null {
    if (isOver) return Promise.reject(ended)
    take()
    return queued.length > 0 ? store() : (next ?? running)
  }

  function settled(): Promise<void> | null {
    const waiting = storing()
    // Of one that may be none any more, what it read may be of before another went on.
    return waiting === null && !isOwner() ? Promise.reject(new OwnerUnsure()) : waiting
  }

  function isOwner(): boolean {
    return !isOver && timers.elapsed() - seenMs < UNSEEN_MS_MAX
  }

  function lookForWrites(): void {
    if (isClosed || isOver) return
    for (const place of places) takeAll(place)
    storing()?.catch(() => undefined)
    timers.at(timers.now() + LOOK_FOR_WRITES_MS, lookForWrites)
  }
  async function lookAtOwner(): Promise<void> {
    const asked = timers.elapsed()
    try {
      const head = await journal.look(partition)
      if (head.epoch !== epoch) return end(new JournalFenced(head.epoch))
      seenMs = Math.max(seenMs, asked)
      prove()
    } catch (err) {
      options.log.warn({ err }, 'the journal does not answer')
    }
    if (!isClosed && !isOver) {
      timers.at(timers.now() + LOOK_AT_OWNER_MS, () => void lookAtOwner())
    }
  }
  lookForWrites()
  void lookAtOwner()

  return {
    ...{ settled, isOwner, proven },
    readings: {
      epoch,
      get stored() {
        return seq
      },
      get waiting() {
        return queued.length + appending
      },
    },
    async close() {
      isClosed = true
      forgetAlarm?.cancel()
      markAlarm?.cancel()
      for (const place of places) takeAll(place)
      await storing()
      await forgetting
      await forget(true)
    },
  }
}

/** Cut where an entry would be too long. */
function* parts(
  writes: readonly JournaledWrite[],
): Iterable<readonly [part: readonly JournaledWrite[], isLast: boolean]> {
  let part: JournaledWrite[] = []
  let bytes = 0
  for (const write of writes) {
    if (bytes > 0 && bytes + write.packed.length > ENTRY_BYTES_MAX) {
      yield [part, false]
      part = []
      bytes = 0
    }
    part.push(write)
    bytes += write.packed.length
  }
  yield [part, true]
}
