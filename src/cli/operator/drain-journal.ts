import { sleep, type Timers } from '../../clock/timers.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { readAskedMove, removeAskedMove, writeAskedMove } from '../../disk/journal-move.js'
import type { Journal, JournalHead } from '../../journal/journal.js'
import { UsageError } from '../exit-codes.js'
import { journalPositionIn } from './journal-position-in.js'
import {
  MOVE_POLL_MS,
  MOVES_MS_MAX,
  type Moved,
  requireRunning,
  whyNotMoved,
} from './move-journal.js'

export interface DrainOptions {
  readonly home: string
  /** Whether the service stops even if no standby has reported ready. */
  readonly ends: 'for one that waits' | 'anyway'
  readonly journal: Pick<Journal, 'readHead'>
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  /** Called with a sentence for each step. */
  readonly step: (sentence: string) => void
}

interface Drained extends Moved {
  /** False when there was nothing to drain, because the home's service was not the leader. */
  readonly drained: boolean
}

/**
 * Has a home's service hand the leadership of its cell to a ready standby, and waits until one has
 * it.
 * @throws UsageError when no standby could take over, or the service could not receive the request;
 * then nothing has changed
 * @throws Error when no other node took over; the message names the leader
 */
export function drainJournal(options: DrainOptions): Promise<Drained> {
  return holding(
    () => lockMaintenance(options.home, 'service', 'cluster drain'),
    () => drain(options),
  )
}

type Step = 'asked' | 'ends' | 'left'

async function drain(options: DrainOptions): Promise<Drained> {
  const { home, journal, partition, timers, ends } = options
  const head = await journal.readHead(partition)
  const from = head.owner?.node ?? null
  if ((await journalPositionIn(home))?.epoch !== head.epoch) {
    return { drained: false, from: null, owner: from, epoch: head.epoch }
  }
  requireRunning(home)
  const asked = { epoch: head.epoch, to: null }
  writeAskedMove(home, ends === 'anyway' ? { ...asked, anyway: true } : asked)
  let step: Step | null = null
  try {
    const untilMs = timers.elapsed() + MOVES_MS_MAX
    for (let now = head; ; now = await journal.readHead(partition)) {
      if (now.epoch > head.epoch) return takenFrom(from, now)
      const file = readAskedMove(home)
      if (file?.refused !== undefined) {
        throw new UsageError(`nothing was handed over: ${file.refused}`)
      }
      const next = stepOf(now, file !== null)
      if (next !== step) options.step(SENTENCES[next])
      step = next
      if (timers.elapsed() > untilMs) throw new Error(whyNotMoved(now))
      await sleep(timers, MOVE_POLL_MS)
    }
  } finally {
    removeAskedMove(home)
  }
}

const SENTENCES: Readonly<Record<Step, string>> = {
  asked: 'the service here has the request, and asks for a ready standby',
  ends: 'the service here finishes its requests, and stops',
  left: 'the service here has given up leadership',
}

/** @param isAsked true until the service removes the request, as it does when it stops */
function stepOf({ beat, epoch }: JournalHead, isAsked: boolean): Step {
  if (beat?.epoch === epoch && beat.state === 'leaves') return 'left'
  return isAsked ? 'asked' : 'ends'
}

/** @throws Error when the same node became the leader again */
function takenFrom(from: string | null, { epoch, owner }: JournalHead): Drained {
  const successor = owner?.node ?? null
  if (successor !== from) return { drained: true, from, owner: successor, epoch }
  throw new Error(
    `no other node took over: the service here was restarted and leads again, with epoch ${epoch}. Nothing is lost. Check that a standby is ready (/readyz: standby, loaded, not hindered), then run this again`,
  )
}
