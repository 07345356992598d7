import { sleep, type Timers } from '../clock/timers.js'
import { type Journal, type JournalHead, JournalUnavailable } from '../journal/journal.js'
import type { Environment } from './environment.js'
import { checkBelongs, followJournal, NO_POSITION } from './follow-journal.js'
import { type JournalPosition, journalPositionOf } from './journal-position.js'
import { PARTITION } from './journaled-store.js'

export interface FollowOwnerOptions {
  readonly environment: Environment
  readonly journal: Pick<Journal, 'look' | 'read'>
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Told after each look: what the owner has stored, and how much of it this store has. */
  readonly followed: (progress: FollowProgress) => void
}

export interface FollowProgress {
  readonly epoch: number
  readonly stored: number
  readonly applied: number
}

/** Between two looks; an owner says that it lives twice a second. */
const LOOK_MS = 250

/**
 * An owner that says nothing for as long is taken over from. One that lives all the same, frozen or
 * cut off, is ended by that and loses nothing, so this is as short as an ordinary pause allows.
 */
export const OWNER_SILENT_MS = 3_000

/**
 * Keeps a store close behind the owner of its journal, until that one says that it leaves or has been
 * silent for too long by this machine's clock alone. While the journal does not answer, nobody can
 * tell: the silence is counted anew. Only what the owner calls stored is followed, which no engine
 * takes back; the rest comes with the taking.
 * @returns the epoch to take it from
 * @throws Error where the store does not belong to the journal, or is too far behind it
 */
export async function followUntilOwnerIsGone(options: FollowOwnerOptions): Promise<number> {
  const { environment, journal, timers, log } = options
  let sign = ''
  let silentSinceMs = timers.elapsed()
  let isChecked = false
  let isAway = false
  for (;;) {
    try {
      if (!isChecked) await checkBelongs(environment, journal, PARTITION)
      isChecked = true
      const head = await journal.look(PARTITION)
      if (isAway) log.info({}, 'the journal answers again')
      if (isAway || signOf(head) !== sign) silentSinceMs = timers.elapsed()
      isAway = false
      sign = signOf(head)
      if (isLeft(head)) return head.epoch
      if (timers.elapsed() - silentSinceMs > OWNER_SILENT_MS) return head.epoch
      options.followed({ epoch: head.epoch, ...(await follow(options, head)) })
    } catch (err) {
      if (!(err instanceof JournalUnavailable)) throw err
      if (!isAway) log.warn({ err }, 'the journal does not answer: its owner cannot be seen')
      isAway = true
    }
    await sleep(timers, LOOK_MS)
  }
}

async function follow(
  { environment, journal }: FollowOwnerOptions,
  { beat }: JournalHead,
): Promise<{ readonly stored: number; readonly applied: number }> {
  let position: JournalPosition = journalPositionOf(environment) ?? NO_POSITION
  const stored = beat?.stored ?? 0
  if (stored > position.seq) {
    const followed = await followJournal(environment, journal, PARTITION, stored, position)
    position = followed.position
  }
  return { stored, applied: position.seq }
}

/** Changes with all that an owner does to be seen. */
function signOf({ epoch, beat }: JournalHead): string {
  return `${epoch} ${beat?.epoch} ${beat?.count}`
}

function isLeft({ epoch, beat }: JournalHead): boolean {
  return beat !== null && beat.epoch === epoch && beat.state === 'leaves'
}
