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
 * The only writer of the identity provider's journal. Decisions go to the stores first, and an
 * answer waits until the journal has every earlier write: no caller knows of anything that the next
 * leader does not.
 *
 * A leader that could not confirm its leadership recently decides nothing: another node may have
 * taken over while this process was paused.
 */
export interface UserSideJournal {
  /** Null when the journal has all that is on disk here. Rejects when it never will. */
  settled(): Promise<void> | null
  /** False when another node may lead by now, so that nothing may be decided. */
  isLeader(): boolean
  readonly readings: WriterReadings
  /** Resolves once the journal has confirmed this leadership. */
  readonly proven: Promise<void>
  /**
   * Resolves once the journal has every write, or when the time is over, so that a standby need not
   * wait.
   */
  close(): Promise<void>
}

interface WriterReadings {
  readonly epoch: number
  /** The last stored entry. */
  readonly stored: number
  /** Writes not stored yet, including those in flight. */
  readonly waiting: number
}

interface WriterOptions extends AppendContext {
  readonly journal: Pick<Journal, 'append' | 'readHead'>
  readonly partition: number
  readonly stores: JournaledStores
  readonly sealer: Sealer
  /** The position after acquiring leadership, which is the journal's end. */
  readonly position: Position
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  /** Called when this home is fenced: the process has to end. */
  readonly fatal: (error: unknown) => void
}

/** Thrown when the journal has not answered for a while: another node may lead by now. */
class LeadershipUnsure extends Error {
  override readonly name = 'LeadershipUnsure'

  constructor() {
    super('another node may lead the journal by now')
  }
}

/** The bound of an entry's writes before sealing. */
const ENTRY_BYTES_MAX = BODY_BYTES_MAX / 4
/** How often writes by other processes are collected. */
const WRITES_POLL_MS = 250
/** Writes that the journal has are forgotten in groups, because each group waits for the disk. */
const FORGET_AFTER_MS = 1_000
/** How often stores without writes advance their position. */
const MARK_AFTER_MS = 30_000

const LEADER_POLL_INTERVAL_MS = 500
/** Shorter than the silence after which another node takes over. */
const UNSEEN_MS_MAX = 1_500

export function createUserSideWriter(options: WriterOptions): UserSideJournal {
  const { journal, partition, stores, sealer, timers } = options
  const { epoch } = options.position
  let { seq, last } = options.position
  /** The last entry that ends a transaction. */
  let whole = { seq, last }
  const places = stores.all.map((store) => ({
    store,
    /** Numbers of writes that are queued or stored and not yet forgotten. */
    taken: new Set<number>(),
    /** Those of them whose entry is stored. */
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
   * Queues the writes of this process that are on disk. It repeats until a pass finds no new write,
   * so that an earlier write to one store is never missing beside a later one to another.
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

  /**
   * Queues also the writes that an earlier run left and those of other processes.
   * @returns whether any was new
   */
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
    // If a week passes without writes, entries that a store has not marked would be trimmed.
    markAlarm ??= forgetIn(MARK_AFTER_MS)
  }

  /** @returns a promise that resolves once everything queued is stored */
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
      // Another caller may have started the next append in between.
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
   * Forgets writes whose entries are stored. A failure is retried later, and the store's position
   * stays.
   * @param isForAll also advances stores without writes
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
        options.log.warn(
          { err, store: place.store.name },
          'stored writes could not be cleared: retrying',
        )
        continue
      }
      for (const number of numbers) place.taken.delete(number)
    }
  }

  /** Waits until the journal has all that is on disk here; null when it has. */
  function storing(): Promise<void> | null {
    if (isOver) return Promise.reject(ended)
    take()
    return queued.length > 0 ? store() : (next ?? running)
  }

  function settled(): Promise<void> | null {
    const waiting = storing()
    // If leadership is lost, what this process read may be outdated.
    return waiting === null && !isLeader() ? Promise.reject(new LeadershipUnsure()) : waiting
  }

  function isLeader(): boolean {
    return !isOver && timers.elapsed() - seenMs < UNSEEN_MS_MAX
  }

  function pollForWrites(): void {
    if (isClosed || isOver) return
    for (const place of places) takeAll(place)
    storing()?.catch(() => undefined)
    timers.at(timers.now() + WRITES_POLL_MS, pollForWrites)
  }
  async function pollLeader(): Promise<void> {
    const asked = timers.elapsed()
    try {
      const head = await journal.readHead(partition)
      if (head.epoch !== epoch) return end(new JournalFenced(head.epoch))
      seenMs = Math.max(seenMs, asked)
      prove()
    } catch (err) {
      options.log.warn({ err }, 'the journal does not answer')
    }
    if (!isClosed && !isOver) {
      timers.at(timers.now() + LEADER_POLL_INTERVAL_MS, () => void pollLeader())
    }
  }
  pollForWrites()
  void pollLeader()

  return {
    ...{ settled, isLeader, proven },
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

/** Splits writes so that no entry becomes too long. */
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
