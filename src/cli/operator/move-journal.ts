import { z } from 'zod'
import { sleep, type Timers } from '../../clock/timers.js'
import { domainHeldBy, lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { readAskedMove, removeAskedMove, writeAskedMove } from '../../disk/journal-move.js'
import type { Journal, JournalHead } from '../../journal/journal.js'
import { nodeIdOf } from '../../store/journal-move.js'
import { UsageError } from '../exit-codes.js'
import { journalPositionIn } from './journal-position-in.js'

interface MoveOptions {
  /** The leader's home; its service must run. */
  readonly home: string
  /** The address of the node that should take over. */
  readonly to: URL
  readonly journal: Pick<Journal, 'readHead'>
  /** The partition of the journal that is handed over. */
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
}

/** The leaders before and after. */
export interface Moved {
  readonly from: string | null
  readonly owner: string | null
  readonly epoch: number
}

/** The leader finishes its requests within 20 s; other standbys hold back for ten seconds more. */
export const MOVES_MS_MAX = 60_000
export const MOVE_POLL_MS = 100
const ANSWERS_MS_MAX = 5_000
/** A standby that follows lacks only the entries of about the last second. */
const BEHIND_MAX = 1_000

/**
 * Has the leader hand over to one standby, and waits until that standby leads.
 * @throws UsageError when that standby is missing or could not take over, or this is not the
 * leader's home
 * @throws Error when another outcome occurred; the message names the leader
 */
export function moveJournal(options: MoveOptions): Promise<Moved> {
  return holding(
    () => lockMaintenance(options.home, 'service', 'cluster move'),
    () => move(options),
  )
}

async function move(options: MoveOptions): Promise<Moved> {
  const { home, to, journal, partition, timers } = options
  const head = await journal.readHead(partition)
  await requireLeader(home, head)
  const id = await readyId(to, head)
  const from = head.owner?.node ?? null
  writeAskedMove(home, { epoch: head.epoch, to: id })
  try {
    const untilMs = timers.elapsed() + MOVES_MS_MAX
    for (let now = head; ; now = await journal.readHead(partition)) {
      if (now.epoch > head.epoch) {
        const owner = now.owner?.node ?? null
        if (owner !== null && nodeIdOf(owner) === id) return { from, owner, epoch: now.epoch }
        throw new Error(
          `the service at ${to.origin} did not take over: ${owner ?? 'an unknown service'} is the leader now. Nothing is lost: find the reason in both logs, then run this in that leader's home`,
        )
      }
      const refused = readAskedMove(home)?.refused
      if (refused !== undefined) throw new UsageError(`nothing was handed over: ${refused}`)
      if (timers.elapsed() > untilMs) throw new Error(whyNotMoved(now))
      await sleep(timers, MOVE_POLL_MS)
    }
  } finally {
    removeAskedMove(home)
  }
}

async function requireLeader(home: string, { epoch, owner }: JournalHead): Promise<void> {
  const position = await journalPositionIn(home)
  if (position === null) throw new UsageError(`the store of ${home} has no journal`)
  if (position.epoch !== epoch) {
    throw new UsageError(
      `the service of ${home} is not the leader: ${owner?.node ?? 'nobody'} is, with epoch ${epoch}. Run this in the leader's home`,
    )
  }
  requireRunning(home)
}

/** @throws UsageError when the home's service is not running */
export function requireRunning(home: string): void {
  if (domainHeldBy(home, 'service') !== null) return
  throw new UsageError(
    `the service of ${home} is not running, so a standby will take over on its own. Start it, or run countersign cluster take in the home that should lead and restart that service`,
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

/**
 * @returns the node's id
 * @throws UsageError when it could not take over now, with what to do
 */
async function readyId(to: URL, { epoch }: JournalHead): Promise<string> {
  const { node, journal } = await partsOf(to)
  const said = node ?? journal
  const not = (why: string) =>
    new UsageError(`nothing was handed over: the service at ${to.origin} ${why}`)
  if (said?.standby !== true) throw not('is not a standby: it is the leader, or has no journal')
  const { restored_percent: restored, behind = 0, id } = said
  if (restored !== undefined) {
    throw not(
      `is restoring its store from the journal's snapshot (${restored} % done): run this again when it is complete`,
    )
  }
  if (said.hindered === true) {
    throw not(
      'cannot sign, or would refuse writes: see its log for the reason (CLUSTER.md, "Add a standby")',
    )
  }
  if (said.loaded !== true) throw not('is not loaded yet: run this again in a few seconds')
  if (said.epoch !== epoch) {
    throw not(
      `follows a leader with epoch ${said.epoch ?? 0}, but this home's leader has ${epoch}: it has not seen this leader yet, or follows another journal`,
    )
  }
  if (behind > BEHIND_MAX)
    throw not(`is ${behind} entries behind: run this again when it has caught up`)
  if (id === undefined) throw not('runs a build that cannot be named as the successor: upgrade it')
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
    throw new UsageError(`nothing was handed over: ${to.origin} gave no valid answer (${reason})`, {
      cause,
    })
  }
  const { success, data } = readiness.safeParse(body)
  if (success) return data.parts
  throw new UsageError(`nothing was handed over: what answers at ${to.origin} is not a node`)
}

export function whyNotMoved({ beat, owner }: JournalHead): string {
  const who = owner?.node ?? 'its leader'
  return beat?.state === 'leaves'
    ? `${who} gave up leadership, but no standby took over within a minute: check the log of each standby`
    : `${who} did not hand over within a minute and is still the leader: see its log for the reason, or upgrade it if its build cannot hand over`
}
