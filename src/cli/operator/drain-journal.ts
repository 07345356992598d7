import { sleep, type Timers } from '../../clock/timers.js'
import { lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { readAskedMove, removeAskedMove, writeAskedMove } from '../../disk/journal-move.js'
import type { Journal, JournalHead } from '../../journal/journal.js'
import { UsageError } from '../exit-codes.js'
import { journalPositionIn } from './journal-position-in.js'
import {
  MOVE_LOOK_MS,
  MOVES_MS_MAX,
  type Moved,
  requireRunning,
  whyNotMoved,
} from './move-journal.js'

export interface DrainOptions {
  readonly home: string
  /** Whether the service ends although no node has said that it waits. */
  readonly ends: 'for one that waits' | 'anyway'
  readonly journal: Pick<Journal, 'look'>
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  /** Told of each step, in a sentence. */
  readonly step: (sentence: string) => void
}

export interface Drained extends Moved {
  /** Or there was nothing to drain: the service of the home did not own the journal. */
  readonly drained: boolean
}

/**
 * Has the service of a home leave the journal of its cell to whoever waits for it, and sees that one has it.
 * @throws UsageError where nobody could take it over, or the service would not hear of it; nothing is done then
 * @throws Error where nobody else has taken it: the message says who owns it then
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
  const head = await journal.look(partition)
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
    for (let now = head; ; now = await journal.look(partition)) {
      if (now.epoch > head.epoch) return takenFrom(from, now)
      const file = readAskedMove(home)
      if (file?.refused !== undefined) {
        throw new UsageError(`nothing was handed over: ${file.refused}`)
      }
      const next = stepOf(now, file !== null)
      if (next !== step) options.step(SENTENCES[next])
      step = next
      if (timers.elapsed() > untilMs) throw new Error(whyNotMoved(now))
      await sleep(timers, MOVE_LOOK_MS)
    }
  } finally {
    removeAskedMove(home)
  }
}

const SENTENCES: Readonly<Record<Step, string>> = {
  asked: 'the service here is told, and asks who waits for its journal',
  ends: 'the service here answers what is under way, and ends',
  left: 'the service here has left the journal to whoever waits',
}

/** @param isAsked the service has not taken the word away yet, as it does when it ends */
function stepOf({ beat, epoch }: JournalHead, isAsked: boolean): Step {
  if (beat?.epoch === epoch && beat.state === 'leaves') return 'left'
  return isAsked ? 'asked' : 'ends'
}

/** @throws Error where it was the same node that took it again */
function takenFrom(from: string | null, { epoch, owner }: JournalHead): Drained {
  const taker = owner?.node ?? null
  if (taker !== from) return { drained: true, from, owner: taker, epoch }
  throw new Error(
    `nobody else has taken the journal: the service here was started again and owns it as before, with epoch ${epoch}. Nothing is lost. See that another node waits (/readyz: standby, loaded, not hindered), and say this again`,
  )
}
