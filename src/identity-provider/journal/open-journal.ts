import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { systemTimers, type Timers } from '../../clock/timers.js'
import { openDataKeys } from '../../custody/domain-keys/data-keys.js'
import { userSideLayout } from '../../custody/domain-keys/layout.js'
import {
  refuseHalfRestored,
  refuseUnfenced,
  unfencedPath,
} from '../../custody/domain-keys/pending-restore.js'
import { openShareCopies } from '../../custody/domain-keys/share-copies.js'
import { type FileKeys, openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { openSigningCheck } from '../../custody/key-stores/signing-check.js'
import { readWrappingKeys } from '../../custody/key-stores/wrapping-key.js'
import { readJournalPermit, removeJournalPermit } from '../../disk/journal-permit.js'
import { askUntilAvailable } from '../../journal/ask-until-available.js'
import {
  type Journal,
  type JournalHead,
  JournalOvertaken,
  JournalUnavailable,
} from '../../journal/journal.js'
import { createLeaderHeartbeats, type LeaderHeartbeats } from '../../journal/leader-heartbeats.js'
import { watchUntilLeaderIsGone } from '../../journal/watch-leader.js'
import { carryFreeze } from './carry-freeze.js'
import { encodeEntry, JOURNAL_ID_BYTES, nameOfEntry, type Sealer } from './entry.js'
import {
  COPY_ANEW,
  checkBelongs,
  type FollowContext,
  followJournal,
  writeLeftoversAgain,
} from './follow.js'
import { beginning, openJournaledStores, type Position } from './stores.js'
import { keepTrimmed } from './trim.js'
import { createUserSideWriter, type UserSideJournal } from './writer.js'

/** An identity provider has one partition, in an engine of its own. */
export const PARTITION = 0

export interface UserSideJournalOptions {
  readonly home: string
  readonly mode: 'dev' | 'live'
  readonly fileKeys: FileKeys
  readonly connect: () => Promise<Journal>
  readonly role: 'owner' | 'standby'
  /** A name for people, stored with the leadership. */
  readonly node: string
  /** Called when the journal accepts no more entries from this home: the process has to end. */
  readonly fatal: (error: unknown) => void
  readonly log: {
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Called on a standby after each poll of the leader. */
  readonly followed?: (progress: StandbyProgress) => void
  readonly timers?: Timers
  /** The sender of heartbeats; by default this thread. */
  readonly heartbeats?: LeaderHeartbeats
}

export interface StandbyProgress {
  readonly epoch: number
  /** The name that the leader stored with its leadership; null before the first. */
  readonly leader: string | null
  readonly stored: number
  readonly applied: number
  /** Why this home would not take over now; null when it would. */
  readonly hindrance: string | null
}

const CLAIM_BYTES = 16

const TAKE_BACK =
  '`countersign cluster take --domain user` lets the next start here acquire leadership again, which ends the other node'

const HINDERED =
  'this home cannot act as the identity provider, so it does not take over: copy identity-provider/vault/keys from the leader, and install the registry here. It checks again every second'

/**
 * Acquires leadership for this home and applies the journal to all of its stores. A standby follows
 * the journal and acquires leadership once the leader is gone. Call it before anything else opens
 * the identity provider's stores.
 * @throws Error when the home does not belong to the journal, or another home leads it; the message
 * tells what to do
 */
export async function openUserSideJournal(
  options: UserSideJournalOptions,
): Promise<UserSideJournal> {
  const { home, log, timers = systemTimers() } = options
  refuseHalfRestored(userSideLayout(home))
  const sealer = await openSealer(options)
  const journal = await options.connect()
  const { heartbeats = createLeaderHeartbeats(journal, PARTITION, timers) } = options
  const stores = openJournaledStores(home)
  const context: Context = {
    ...{ options, journal, stores, sealer, timers, partition: PARTITION },
    reached: null,
    acquired: (epoch, seq) => heartbeats.begin(epoch, () => seq),
  }
  const isNew = stores.position() === null
  const found = await beginIfNew(context)
  context.reached = found
  await available(context, () => checkBelongs(context, found))
  const position = await (options.role === 'standby' ? wait(context) : acquireAsLeader(context))
  await stores.close()
  removeJournalPermit(home, 'user')
  // After a restore from a backup, the journal returns everything that the home had forgotten.
  if (!isNew) rmSync(unfencedPath(userSideLayout(home)), { force: true })
  // Opened again: from here on the writes to stores that had no journal are recorded.
  const recorded = openJournaledStores(home)
  const frozen = carryFreeze(home, log)
  const writer = createUserSideWriter({
    ...{ journal, partition: PARTITION, stores: recorded, sealer, position, timers, log },
    fatal: options.fatal,
  })
  heartbeats.begin(position.epoch, () => writer.readings.stored)
  const trimming = keepTrimmed({
    ...{ home, journal, partition: PARTITION, timers, log, writer, id: position.journal },
    needed: () => recorded.position()?.seq ?? 0,
  })
  await writer.proven
  await writer.settled()
  return {
    ...writer,
    async close() {
      await trimming.close()
      await frozen.close()
      try {
        await writer.close()
        await heartbeats.leave()
      } finally {
        await recorded.close()
        await journal.close()
      }
    },
  }
}

interface Context extends FollowContext {
  readonly options: UserSideJournalOptions
  readonly journal: Journal
  readonly timers: Timers
  /** The position reached; the stores' own record of it may be older. */
  reached: Position | null
  /** Called once this home is the leader and sends heartbeats. */
  readonly acquired: (epoch: number, seq: number) => void
}

/** Derives the key that seals entries, shared by this home and every copy of it. */
async function openSealer({ home, fileKeys }: UserSideJournalOptions): Promise<Sealer> {
  const layout = userSideLayout(home)
  const keyStore = await openKeyStore(layout.keys, fileKeys)
  const copies = openShareCopies(layout)
  try {
    const wrappingKeys = await readWrappingKeys(layout.wrappingKey, keyStore)
    return openDataKeys('user', wrappingKeys, copies.dataKeys)
  } finally {
    await copies.close()
    await keyStore.close()
  }
}

function available<T>({ timers, options }: Context, ask: () => Promise<T>): Promise<T> {
  return askUntilAvailable({ timers }, ask, (err, tries) =>
    options.log.warn({ err, tries }, 'the journal does not answer: retrying'),
  )
}

/**
 * Returns the first position of a home that never had a journal. The claim is on disk before the
 * journal begins, so that it identifies whose journal it is.
 */
async function beginIfNew(context: Context): Promise<Position> {
  const { stores, options } = context
  const known = stores.position()
  if (known !== null) return known
  const head = await headOf(context)
  if (options.role === 'standby' || head.epoch > 0) {
    throw new Error(
      `the stores of ${options.home} have no journal, and ${options.role === 'standby' ? 'a standby is made of a home that has' : 'this one has had an owner'}: name an empty engine to begin one as its leader, or ${COPY_ANEW}`,
    )
  }
  // A new journal would lack what the home forgot at its restore.
  refuseUnfenced(userSideLayout(options.home))
  const position = beginning(drawn(JOURNAL_ID_BYTES), '')
  await stores.begin(position)
  return position
}

/** @throws Error when another home leads, and this start may not end it */
async function acquireAsLeader(context: Context): Promise<Position> {
  const { options } = context
  const head = await headOf(context)
  if (isOwn(context.reached, head)) return acquire(context, head.epoch)
  if (readJournalPermit(options.home, 'user') === head.epoch) return acquire(context, head.epoch)
  const where = head.owner === null ? '' : `, at ${head.owner.node},`
  throw new Error(
    `another identity provider${where} leads this home's journal since epoch ${head.epoch}; ${TAKE_BACK}`,
  )
}

/** Keeps following when another standby leads first, or the leader is alive after all. */
async function wait(context: Context): Promise<Position> {
  const { journal, options, timers } = context
  const { home, mode, log, followed = () => undefined } = options
  const head = await headOf(context)
  if (readJournalPermit(home, 'user') === head.epoch) return acquireAsLeader(context)
  log.info({}, 'this standby of the identity provider follows its journal')
  const signing = openSigningCheck(home, 'user', mode, timers.now)
  try {
    for (;;) {
      const epoch = await watchUntilLeaderIsGone({
        ...{ journal, partition: PARTITION, timers, log, wayOut: HINDERED },
        prepare: async () => undefined,
        hasRecords: () => true,
        hindrance: signing.hindrance,
        async follow(now, hindrance) {
          await catchUp(context, now)
          const applied = context.reached?.seq ?? 0
          const stored = now.beat?.stored ?? 0
          const leader = now.owner?.node ?? null
          followed({ epoch: now.epoch, leader, stored, applied, hindrance })
        },
      })
      log.warn({ epoch }, 'the leader of the journal is gone: acquiring leadership')
      try {
        return await acquire(context, epoch, 1)
      } catch (err) {
        if (!(err instanceof JournalOvertaken || err instanceof JournalUnavailable)) throw err
        log.warn({ err }, 'leadership was not acquired: following the leader again')
      }
    }
  } finally {
    await signing.close()
  }
}

/** Applies the entries that the leader reports as stored. */
async function catchUp(context: Context, { beat, epoch }: JournalHead): Promise<void> {
  const position = context.reached
  // A former leader's report says nothing about where the present leader began.
  if (position === null || beat === null || beat.epoch !== epoch) return
  const end = Math.max(beat.stored, position.seq)
  context.reached = (await followJournal(context, position, end, epoch)).position
}

/** Tells whether this home acquired leadership last, even if it ended before it saw the answer. */
function isOwn(position: Position | null, { epoch, owner: leader }: JournalHead): boolean {
  if (position === null) return false
  const { claim, landed } = position
  return epoch <= position.epoch || leader?.claim === claim || leader?.claim === landed
}

/**
 * Acquires leadership.
 * @param after the epoch that was seen: only that leader is ended
 * @throws JournalOvertaken, JournalUnavailable
 */
async function acquire(context: Context, after: number, triesMax?: number): Promise<Position> {
  const { journal, stores, options, timers, sealer } = context
  const known = context.reached ?? beginning('', '')
  // This also resumes an acquisition that was cut short, if no other home has led since.
  const head = await headOf(context)
  const isResumed = after > known.epoch && isOwn(known, head)
  const isFromItself = (isResumed ? known.after : after) === known.epoch
  const claim = drawn(CLAIM_BYTES)
  const from = isFromItself ? known.epoch : after
  const landed = isResumed ? (head.owner?.claim ?? '') : ''
  const claimed: Position = { ...known, claim, after: from, landed }
  context.reached = claimed
  for (const store of stores.all) await store.commit(claimed)
  const { epoch, seq: end } = await askUntilAvailable(
    { timers, ...(triesMax === undefined ? {} : { triesMax }) },
    () => journal.acquire(PARTITION, options.node, claim, after),
  )
  context.acquired(epoch, end)
  // If another home has led, writes that this home never stored are undone on the way.
  const { position: reached, last } = await untilAvailable(context, () =>
    followJournal(context, claimed, end, isFromItself ? known.epoch : epoch),
  )
  // A transaction that an earlier leader left incomplete was never stored; it stays skipped.
  let position: Position = { ...reached, seq: end, last, epoch, claim, after: epoch, landed: '' }
  if (end === 0) position = await begin(context, position)
  if (isFromItself) await writeLeftoversAgain(stores, position)
  for (const store of stores.all) await store.commit(position)
  options.log.info({ epoch, seq: position.seq, journal: position.journal }, 'leadership acquired')
  return position

  /** Writes a first entry, so that no home takes an empty journal for its own. */
  async function begin(at: Context, empty: Position): Promise<Position> {
    const entry = { journal: empty.journal, previous: empty.last, isPart: false, writes: [] }
    const body = encodeEntry(entry, sealer)
    const answer = await untilAvailable(at, () =>
      journal.append({ partition: PARTITION, epoch, seq: 1 }, body),
    )
    if (answer.kind === 'fenced') throw new JournalOvertaken(PARTITION, epoch, answer.epoch)
    return { ...empty, seq: 1, last: nameOfEntry(body) }
  }
}

/** Retries without limit: this home leads, so no other node continues. */
function untilAvailable<T>({ timers, options }: Context, ask: () => Promise<T>): Promise<T> {
  return askUntilAvailable({ timers, triesMax: Number.POSITIVE_INFINITY }, ask, (err, tries) =>
    options.log.warn({ err, tries }, 'the journal does not answer: retrying'),
  )
}

function headOf(context: Context): Promise<JournalHead> {
  return available(context, () => context.journal.readHead(PARTITION))
}

function drawn(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
