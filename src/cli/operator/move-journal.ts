import { z } from 'zod'
import { sleep, type Timers } from '../../clock/timers.js'
import { domainHeldBy, lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { readAskedMove, removeAskedMove, writeAskedMove } from '../../disk/journal-move.js'
import type { Journal, JournalHead } from '../../journal/journal.js'
import { nodeIdOf } from '../../store/journal-move.js'
import { UsageError } from '../exit-codes.js'
import { journalPositionIn } from './journal-position-in.js'

export interface MoveOptions {
  /** Of the journal's owner, whose service runs. */
  readonly home: string
  /** Where the node that is to have it answers. */
  readonly to: URL
  readonly journal: Pick<Journal, 'look'>
  /** Of the journal: the one that is handed over. */
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
}

/** Whose the journal was, and is. */
export interface Moved {
  readonly from: string | null
  readonly owner: string | null
  readonly epoch: number
}

/** The owner answers what is under way, for 20 s at most; others hold back for ten seconds more. */
export const MOVES_MS_MAX = 60_000
export const MOVE_LOOK_MS = 100
const ANSWERS_MS_MAX = 5_000
/** Of what one that follows has all but for the last second. */
const BEHIND_MAX = 1_000

/**
 * Has the owner of the journal hand it over to one of those that wait, and sees that it has it.
 * @throws UsageError where that one is not there or could not take it, or this is not the owner's home
 * @throws Error where it came otherwise: the message says who owns the journal then
 */
export function moveJournal(options: MoveOptions): Promise<Moved> {
  return holding(
    () => lockMaintenance(options.home, 'service', 'cluster move'),
    () => move(options),
  )
}

async function move(options: MoveOptions): Promise<Moved> {
  const { home, to, journal, partition, timers } = options
  const head = await journal.look(partition)
  await requireOwner(home, head)
  const id = await readyId(to, head)
  const from = head.owner?.node ?? null
  writeAskedMove(home, { epoch: head.epoch, to: id })
  try {
    const untilMs = timers.elapsed() + MOVES_MS_MAX
    for (let now = head; ; now = await journal.look(partition)) {
      if (now.epoch > head.epoch) {
        const owner = now.owner?.node ?? null
        if (owner !== null && nodeIdOf(owner) === id) return { from, owner, epoch: now.epoch }
        throw new Error(
          `the service at ${to.origin} did not take the journal: ${owner ?? 'an unknown service'} owns it now. Nothing is lost: find out why by the log of each, and say this at the home of that one`,
        )
      }
      const refused = readAskedMove(home)?.refused
      if (refused !== undefined) throw new UsageError(`nothing was handed over: ${refused}`)
      if (timers.elapsed() > untilMs) throw new Error(whyNotMoved(now))
      await sleep(timers, MOVE_LOOK_MS)
    }
  } finally {
    removeAskedMove(home)
  }
}

async function requireOwner(home: string, { epoch, owner }: JournalHead): Promise<void> {
  const position = await journalPositionIn(home)
  if (position === null) throw new UsageError(`the store of ${home} has no journal`)
  if (position.epoch !== epoch) {
    throw new UsageError(
      `the service of ${home} does not own the journal, which ${owner?.node ?? 'nobody'} has, with epoch ${epoch}: say this at the home of that one`,
    )
  }
  requireRunning(home)
}

/** @throws UsageError where its service hears nothing */
export function requireRunning(home: string): void {
  if (domainHeldBy(home, 'service') !== null) return
  throw new UsageError(
    `the service of ${home} does not run, so that a standby takes the journal by itself: start this one, or say countersign cluster take at the home of the one that is to have it, and restart that`,
  )
}

const fact = z.looseObject({
  standby: z.boolean().optional(),
  loaded: z.boolean().optional(),
  hindered: z.boolean().optional(),
  restored_percent: z.number().optional(),
  epoch: z.number().optional(),
  behind: z.number().optional(),
  id: z.string().optional(),
})
const readiness = z.looseObject({
  parts: z.looseObject({ node: fact.optional(), journal: fact.optional() }),
})

/** @returns its id @throws UsageError where it could not take the journal now, with what to do */
async function readyId(to: URL, { epoch }: JournalHead): Promise<string> {
  const { node, journal } = await partsOf(to)
  const said = node ?? journal
  const not = (why: string) =>
    new UsageError(`nothing was handed over: the service at ${to.origin} ${why}`)
  if (said?.standby !== true) throw not('is no standby: it owns the journal itself, or has none')
  const { restored_percent: restored, behind = 0, id } = said
  if (restored !== undefined) {
    throw not(
      `restores its store from the journal's snapshot, of which it has ${restored} %: say this again when it has it`,
    )
  }
  if (said.hindered === true) {
    throw not(
      'could sign nothing, or would refuse writes: its log says why (OPERATIONS.md, "A standby" and "A new co-signer key")',
    )
  }
  if (said.loaded !== true) throw not('is not loaded yet: say this again in some seconds')
  if (said.epoch !== epoch) {
    throw not(
      `follows an owner with epoch ${said.epoch ?? 0}, and that of this home has ${epoch}: it has not seen this one yet, or follows another journal`,
    )
  }
  if (behind > BEHIND_MAX) throw not(`is ${behind} entries behind: say this again when it has them`)
  if (id === undefined)
    throw not('is of a build that no journal is handed over to by name: bring it up to date')
  return id
}

async function partsOf(to: URL): Promise<z.infer<typeof readiness>['parts']> {
  let body: unknown
  try {
    const signal = AbortSignal.timeout(ANSWERS_MS_MAX)
    const answer = await fetch(new URL('/readyz', to), { signal, redirect: 'error' })
    body = await answer.json()
  } catch (cause) {
    const { cause: inner, message } = cause as Error
    const reason = inner instanceof Error ? inner.message : message
    throw new UsageError(
      `nothing was handed over: ${to.origin} does not answer as a node does (${reason})`,
      { cause },
    )
  }
  const { success, data } = readiness.safeParse(body)
  if (success) return data.parts
  throw new UsageError(`nothing was handed over: what answers at ${to.origin} is no node`)
}

export function whyNotMoved({ beat, owner }: JournalHead): string {
  const who = owner?.node ?? 'its owner'
  return beat?.state === 'leaves'
    ? `${who} has handed the journal over, and nobody has taken it within a minute: look at the log of each node that waits`
    : `${who} has not handed the journal over within a minute, and owns it on: its log says why, unless it is of a build that does not know how`
}
