import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { systemTimers, type Timers } from '../../clock/timers.js'
import { openDataKeys } from '../../custody/domain-keys/data-keys.js'
import { userSideLayout } from '../../custody/domain-keys/layout.js'
import { refuseHalfRestored, unfencedPath } from '../../custody/domain-keys/pending-restore.js'
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
import { createOwnerBeats } from '../../journal/owner-beats.js'
import { watchUntilOwnerIsGone } from '../../journal/watch-owner.js'
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

/** One user side is one partition, of an engine of its own. */
export const PARTITION = 0

export interface UserSideJournalOptions {
  readonly home: string
  readonly mode: 'dev' | 'live'
  readonly fileKeys: FileKeys
  readonly connect: () => Promise<Journal>
  readonly role: 'owner' | 'standby'
  /** For people: who took it. */
  readonly node: string
  /** The journal takes nothing more of this home: the process has to end. */
  readonly fatal: (error: unknown) => void
  readonly log: {
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Of one that waits: after each look at the owner. */
  readonly followed?: (progress: StandbyProgress) => void
  readonly timers?: Timers
}

export interface StandbyProgress {
  readonly epoch: number
  /** As it said when it took the journal; null: nobody has. */
  readonly owner: string | null
  readonly stored: number
  readonly applied: number
  /** Why the journal would not be taken over now; null: it would. */
  readonly hindrance: string | null
}

const CLAIM_BYTES = 16

const TAKE_BACK =
  '`countersign cluster take --domain user` lets the next start here take it back, which ends that one'

const HINDERED =
  'this home could not go on as the identity provider, so it does not take the journal over: carry identity-provider/vault/keys of the owner to it, and install the registry here. It looks again each second'

/**
 * Takes the journal for this home, and brings all of its stores up to it; a standby as soon as the owner
 * is gone, and follows it until then. To be done before anything else opens a store of the user side.
 * @throws Error for a home that does not belong to the journal, or whose journal another home has taken
 *   over, with what to do
 */
export async function openUserSideJournal(
  options: UserSideJournalOptions,
): Promise<UserSideJournal> {
  const { home, log, timers = systemTimers() } = options
  refuseHalfRestored(userSideLayout(home))
  const sealer = await openSealer(options)
  const journal = await options.connect()
  const beats = createOwnerBeats(journal, PARTITION, timers)
  const stores = openJournaledStores(home)
  const context: Context = {
    ...{ options, journal, stores, sealer, timers, partition: PARTITION },
    taken: (epoch, seq) => beats.begin(epoch, () => seq),
  }
  let position = await beginIfNew(context)
  await available(context, () => checkBelongs(context, position))
  position = await (options.role === 'standby' ? wait(context) : takeAsOwner(context))
  await stores.close()
  removeJournalPermit(home, 'user')
  // Of a backup that was put back: the journal has all that it had forgotten.
  rmSync(unfencedPath(userSideLayout(home)), { force: true })
  // Opened anew: of stores that had no journal before, what is written is recorded from here on.
  const recorded = openJournaledStores(home)
  const frozen = carryFreeze(home, log)
  const writer = createUserSideWriter({
    ...{ journal, partition: PARTITION, stores: recorded, sealer, position, timers, log },
    fatal: options.fatal,
  })
  beats.begin(position.epoch, () => writer.readings.stored)
  const trimming = keepTrimmed({ ...{ home, journal, partition: PARTITION, timers, log }, writer })
  await writer.settled()
  return {
    ...writer,
    async close() {
      await trimming.close()
      await frozen.close()
      try {
        await writer.close()
        await beats.leave()
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
  /** It is the owner from here on, and says that it lives. */
  readonly taken: (epoch: number, seq: number) => void
}

/** Under which entries are sealed: of this home, and of all that are made of it. */
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
    options.log.warn({ err, tries }, 'the journal does not answer: it is asked again'),
  )
}

/**
 * Of a home that never had a journal: it is what a new one begins behind, in which a claim that is on
 * disk before says whose beginning it was.
 */
async function beginIfNew(context: Context): Promise<Position> {
  const { stores, journal, options } = context
  const known = stores.position()
  if (known !== null) return known
  const head = await available(context, () => journal.look(PARTITION))
  if (options.role === 'standby' || head.epoch > 0) {
    throw new Error(
      `the stores of ${options.home} have no journal, and ${options.role === 'standby' ? 'a standby is made of a home that has' : 'this one has had an owner'}: name an empty engine to begin one as its owner, or ${COPY_ANEW}`,
    )
  }
  const position = beginning(drawn(JOURNAL_ID_BYTES), '')
  await stores.begin(position)
  return position
}

/** @throws Error where another home has taken it, and is not the one that may be ended */
async function takeAsOwner(context: Context): Promise<Position> {
  const { journal, stores, options } = context
  const head = await available(context, () => journal.look(PARTITION))
  if (isOwn(stores.position(), head)) return take(context, head.epoch)
  if (readJournalPermit(options.home, 'user') === head.epoch) return take(context, head.epoch)
  const where = head.owner === null ? '' : `, at ${head.owner.node},`
  throw new Error(
    `another identity provider${where} has taken this home's journal over, with epoch ${head.epoch}; ${TAKE_BACK}`,
  )
}

/** Who comes first, or lives after all, is followed on. */
async function wait(context: Context): Promise<Position> {
  const { journal, stores, options, timers } = context
  const { home, mode, log, followed = () => undefined } = options
  const head = await available(context, () => journal.look(PARTITION))
  if (readJournalPermit(home, 'user') === head.epoch) return takeAsOwner(context)
  log.info({}, 'a standby of the identity provider follows its journal')
  const signing = openSigningCheck(home, 'user', mode, timers.now)
  try {
    for (;;) {
      // What the stores say of themselves lags: those that nothing is written to say it now and then.
      let reached = stores.position()
      const epoch = await watchUntilOwnerIsGone({
        ...{ journal, partition: PARTITION, timers, log, wayOut: HINDERED },
        prepare: async () => undefined,
        hasRecords: () => true,
        hindrance: signing.hindrance,
        async follow(now, hindrance) {
          reached = await catchUp(context, reached, now)
          const applied = reached?.seq ?? 0
          const stored = now.beat?.stored ?? 0
          const owner = now.owner?.node ?? null
          followed({ epoch: now.epoch, owner, stored, applied, hindrance })
        },
      })
      log.warn({ epoch }, 'the owner of the journal is gone: it is taken over')
      try {
        return await take(context, epoch, 1)
      } catch (err) {
        if (!(err instanceof JournalOvertaken || err instanceof JournalUnavailable)) throw err
        log.warn({ err }, 'the journal was not taken over: its owner is looked for again')
      }
    }
  } finally {
    await signing.close()
  }
}

/** As far as its owner says that it is stored. @returns where the stores are then */
async function catchUp(
  context: Context,
  position: Position | null,
  { beat, epoch }: JournalHead,
): Promise<Position | null> {
  // The word of an earlier owner says nothing of what the one there is begins behind.
  if (position === null || beat === null || beat.epoch !== epoch) return position
  const end = Math.max(beat.stored, position.seq)
  return (await followJournal(context, position, end, epoch)).position
}

/** Whether the last taking was this home's, be it that it did not live to hear of it. */
function isOwn(position: Position | null, { epoch, owner }: JournalHead): boolean {
  if (position === null) return false
  return epoch <= position.epoch || owner?.claim === position.claim
}

/**
 * @param after the epoch to take it from: nobody is ended but the owner that was seen
 * @throws JournalOvertaken, JournalUnavailable
 */
async function take(context: Context, after: number, triesMax?: number): Promise<Position> {
  const { journal, stores, options, timers, sealer } = context
  const known = stores.position() ?? beginning('', '')
  const isFromItself = isOwn(known, await available(context, () => journal.look(PARTITION)))
  const claim = drawn(CLAIM_BYTES)
  for (const store of stores.all) await store.commit({ ...known, claim })
  const { epoch, seq: end } = await askUntilAvailable(
    { timers, ...(triesMax === undefined ? {} : { triesMax }) },
    () => journal.take(PARTITION, options.node, claim, after),
  )
  context.taken(epoch, end)
  // Of a home that another has gone on from, what it did not get to store is taken back on the way.
  const { position: reached, last } = await available(context, () =>
    followJournal(context, known, end, isFromItself ? known.epoch : epoch),
  )
  // What an earlier owner left unfinished was never stored whole: it stays passed over.
  let position: Position = { ...reached, seq: end, last, epoch, claim }
  if (end === 0) position = await begin(context, position)
  if (isFromItself) await writeLeftoversAgain(stores, position)
  for (const store of stores.all) await store.commit(position)
  options.log.info({ epoch, seq: position.seq, journal: position.journal }, 'the journal is taken')
  return position

  /** So that nobody takes a journal without entries for another home's. */
  async function begin(at: Context, empty: Position): Promise<Position> {
    const entry = { journal: empty.journal, previous: empty.last, isPart: false, writes: [] }
    const body = encodeEntry(entry, sealer)
    const answer = await available(at, () =>
      journal.append({ partition: PARTITION, epoch, seq: 1 }, body),
    )
    if (answer.kind === 'fenced') throw new JournalOvertaken(PARTITION, epoch, answer.epoch)
    return { ...empty, seq: 1, last: nameOfEntry(body) }
  }
}

function drawn(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
