import type { Timers } from '../clock/timers.js'
import { sleep } from '../clock/timers.js'
import { type Journal, JournalUnavailable, type Taken } from '../journal/journal.js'
import { appendUntilKnown } from './append-until-known.js'
import type { Environment } from './environment.js'
import { checkBelongs, followJournal } from './follow-journal.js'
import { encodeEntry } from './journal-entry.js'
import { type JournalPosition, positionRow } from './journal-position.js'
import { createJournalWriter, type JournalWriter } from './journal-writer.js'
import { applyRows } from './rows.js'

/**
 * All of a service's commits are one partition of the journal: one service is the owner of all users
 * at a time. To deal users out to several would take batches by partition.
 */
const PARTITION = 0

/** In hex, of a claim that nobody else draws. */
const CLAIM_BYTES = 16

const TAKE_TRIES_MAX = 30
const TAKE_AGAIN_MS = 1_000

export interface JournaledStoreOptions {
  readonly environment: Environment
  readonly journal: Journal
  /** For people: who took it. */
  readonly node: string
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed' | 'random'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  readonly fatal: (error: unknown) => void
  readonly contentBytesMax?: number
}

/**
 * Takes the journal of a store, which ends every service that had it, brings the store up to its end,
 * and writes both from then on. To be done before anything reads the store.
 * @throws Error where they do not belong together, with what to do
 * @throws JournalUnavailable where it does not answer for half a minute
 */
export async function openJournaledStore(options: JournaledStoreOptions): Promise<JournalWriter> {
  const { environment, journal, timers, log } = options
  // To take it ends the service that has it: not for a store that could not go on with it.
  await whenAvailable(options, () => checkBelongs(environment, journal, PARTITION))
  const taken = await take(options)
  const found = await followJournal(environment, journal, PARTITION, taken.seq, (count) =>
    timers.random.bytes(count),
  )
  const { epoch } = taken
  log.info({ epoch, seq: taken.seq }, 'the journal is taken, and the store is at its end')
  const isBegun = !found.hasBase || taken.seq > 0
  const position = isBegun ? found : await beginBehindBase(options, found, epoch)
  return createJournalWriter({
    ...options,
    ...{ partition: PARTITION, epoch, position },
    seq: isBegun ? taken.seq : position.seq,
  })
}

function take(options: JournaledStoreOptions): Promise<Taken> {
  const { journal, node, timers } = options
  const claim = Buffer.from(timers.random.bytes(CLAIM_BYTES)).toString('hex')
  return whenAvailable(options, () => journal.take(PARTITION, node, claim))
}

async function whenAvailable<T>(
  { timers, log }: JournaledStoreOptions,
  ask: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (err) {
      if (!(err instanceof JournalUnavailable) || tries === TAKE_TRIES_MAX) throw err
      log.warn({ err, tries }, 'the journal does not answer: it is asked again')
      await sleep(timers, TAKE_AGAIN_MS)
    }
  }
}

/** So that no empty store follows a journal that does not hold all there was. */
async function beginBehindBase(
  options: JournaledStoreOptions,
  found: JournalPosition,
  epoch: number,
): Promise<JournalPosition> {
  const seq = 1
  const { storeId } = found
  const content = new Uint8Array(0)
  const body = encodeEntry({ storeId, isBase: true, part: 0, isLast: true, content })
  await appendUntilKnown(options, { partition: PARTITION, epoch, seq }, body)
  const position = { ...found, seq }
  await applyRows(options.environment, [positionRow(position)])
  return position
}
