import { expect } from 'vitest'
import { seededRandom } from '../faults/random.js'
import { withinOneUtcDay } from '../support/utc-day.js'
import { judge } from './audit.js'
import {
  type Asked,
  beginLoad,
  type Load,
  makePurses,
  type Pauses,
  type Purse,
  pausesSince,
} from './callers.js'
import type { EngineName } from './engines.js'
import type { Fault } from './faults.js'
import { auditLogs, findOut } from './find-out.js'
import { type Follower, follow } from './followers.js'
import { epochOf } from './whole.js'
import { startWorld, type World, WorldError } from './world.js'

/** What a fault came to, once. */
export interface Outcome extends Pauses {
  readonly engine: EngineName
  readonly fault: string
  readonly seed: number
  /** Acknowledged. */
  readonly sends: number
  readonly refused: number
  readonly tries: number
  /** By what callers were told that it is to be asked again. */
  readonly open: Readonly<Record<string, number>>
  readonly epoch: number
  /** What was wanted of `firstAnswerMs`; null: nothing. */
  readonly wantedMs: number | null
  /** Longest pause of users of a cell that was not hurt; null: there is none. */
  readonly elsewhereMs: number | null
  readonly tookMs: number
  /** Sentences; none when all held. */
  readonly wrong: readonly string[]
  /** What its processes said last. */
  readonly said: string
}

/** A world in which one fault comes again and again, each time under load of its own. */
export interface StandingWorld {
  /**
   * Judges all that it came to, what was before this time too.
   * @param wanted sends at least
   * @throws WorldError where it did not go on: nothing more can be made of it
   */
  run(seed: number, wanted: number): Promise<Outcome>
  stop(): Promise<void>
}

/** Of the first time, its start included; each further one takes less than one. */
const MINUTES_MAX = 6
/** When the fault comes, as shares of the sends that are wanted, and what must follow it. */
const EARLIEST = 0.2
const LATEST = 0.5
const AFTER = 0.3
const GOES_ON = { timeout: 150_000, interval: 20 }

/** @param times how often the fault may come */
export async function beginWorld(
  engine: EngineName,
  fault: Fault,
  times: number,
  cells: 1 | 2 = 1,
): Promise<StandingWorld> {
  await withinOneUtcDay(MINUTES_MAX + times)
  const world = await startWorld({ engine, isDiskSmall: fault.isDiskSmall === true, cells })
  const followers: Follower[] = []
  const stop = async () => {
    await Promise.all(followers.map((it) => it.stop()))
    await world.stop()
  }
  try {
    for (const user of world.users) followers.push(await follow(world, user))
  } catch (error) {
    await stop()
    throw new WorldError('nobody could follow it', world.said(), error)
  }
  const purses: Purse[] = []
  const asked: Asked[] = []

  async function underLoad(seed: number, wanted: number): Promise<Outcome> {
    const startedAt = performance.now()
    const random = seededRandom(seed)
    const own = await makePurses(world)
    purses.push(...own)
    const load = beginLoad(world, own, wanted, random)
    try {
      const share = EARLIEST + (LATEST - EARLIEST) * (random.integer(1_000) / 1_000)
      const act = await fault.aim(world, random)
      await reaches(load, Math.round(share * wanted))
      const faultMs = performance.now()
      await act()
      await reaches(load, Math.max(wanted, load.acknowledgedThere + Math.round(AFTER * wanted)))
      await load.stop()
      asked.push(...load.asked)
      const wrong = await restsAndHolds(world, asked, purses, followers)
      const tries = load.asked.flatMap((it) => it.tries)
      const open: Record<string, number> = {}
      for (const { kind, said } of tries) if (kind === 'open') open[said] = (open[said] ?? 0) + 1
      return {
        ...{ engine, fault: fault.name, seed, sends: load.acknowledged },
        refused: load.asked.filter((it) => it.tries.some(({ kind }) => kind === 'refused')).length,
        ...{ tries: tries.length, open, epoch: await epochOf(world.nodes) },
        ...pausesSince(faultMs, ofCell(load, 0)),
        elsewhereMs: cells === 1 ? null : pausesSince(faultMs, ofCell(load, 1)).longestMs,
        ...{ wantedMs: fault.wantedMs, tookMs: Math.round(performance.now() - startedAt), wrong },
        said: world.said(),
      }
    } finally {
      await load.stop().catch(() => undefined)
    }
  }

  return {
    stop,
    async run(seed, wanted) {
      try {
        return await underLoad(seed, wanted)
      } catch (error) {
        throw new WorldError('it did not go on', world.said(), error)
      }
    },
  }
}

const ofCell = ({ asked }: Load, cell: number) =>
  asked.filter(({ purse }) => purse.user.cell === cell)

async function reaches(load: Load, sends: number): Promise<void> {
  await expect.poll(() => load.acknowledgedThere, GOES_ON).toBeGreaterThanOrEqual(sends)
}

async function restsAndHolds(
  world: World,
  asked: readonly Asked[],
  purses: readonly Purse[],
  followers: readonly Follower[],
): Promise<string[]> {
  await world.whole()
  const acknowledged = asked.filter((it) => it.tries.some(({ kind }) => kind === 'acknowledged'))
  const found = await findOut(world, asked, purses, followers)
  return [...judge(found), ...(await auditLogs(world, acknowledged.length))]
}
