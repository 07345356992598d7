import { expect, onTestFinished } from 'vitest'
import type { Journal } from '../../src/journal/journal.js'
import {
  createLeaderHeartbeats,
  type LeaderHeartbeats,
} from '../../src/journal/leader-heartbeats.js'
import { createMemoryEngine, type MemoryEngine } from '../../src/journal/memory-journal.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import {
  type FollowLeaderOptions,
  type FollowProgress,
  followUntilLeaderIsGone,
} from '../../src/store/follow-leader.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { doWork, log, newDirectory, type Store, startOn } from './journaled-fixtures.js'

/** Owners of a journal and who follows them, by a clock that the test moves. */

/** Between two steps of a test's time, shorter than anything that is waited for. */
const STEP_MS = 50
export const PARTITION = 0
/** More than a few, every other of which is late. */
export const LATE_LOOKS = 6
/** What is read and applied meanwhile takes time of the machine's own. */
export const TURNS_MAX = 1_000

export interface Owner {
  readonly store: Store
  readonly beats: LeaderHeartbeats
  /** As a process does that is killed. */
  die(): void
}

/** Another machine's, by the same clock. */
export async function leaderOf(engine: MemoryEngine, timers: VirtualTimers): Promise<Owner> {
  const journal = engine.connect()
  const store = await startOn(journal)
  const beats = createLeaderHeartbeats(journal, PARTITION, timers)
  const { leadership: leader, readings } = store.writer
  beats.begin(leader.epoch, () => readings.stored)
  return { store, beats, die: () => void journal.close() }
}

/** @param commits that it has stored */
export async function leaderAtWork(commits: number) {
  const timers = new VirtualTimers(START_MS)
  const engine = createMemoryEngine()
  const leader = await leaderOf(engine, timers)
  await doWork(leader.store, 0, commits)
  return { timers, engine, leader }
}

export function emptyStore(): Environment {
  const environment = openEnvironment(newDirectory())
  onTestFinished(() => environment.root.close())
  return environment
}

export interface Following {
  readonly environment: Environment
  readonly progress: () => FollowProgress | null
  /** Of the owner that is gone; null while it follows. */
  readonly overtakes: () => number | null
  readonly failure: () => unknown
}

export function follow(
  journal: Pick<Journal, 'readHead' | 'read' | 'trim'>,
  timers: VirtualTimers,
  environment = emptyStore(),
  storedAfter?: FollowLeaderOptions['storedAfter'],
): Following {
  let progress: FollowProgress | null = null
  let overtakes: number | null = null
  let failure: unknown = null
  const followed = (next: FollowProgress) => {
    progress = next
  }
  const news = storedAfter === undefined ? {} : { storedAfter }
  followUntilLeaderIsGone({ environment, journal, timers, log, followed, ...news }).then(
    (epoch) => {
      overtakes = epoch
    },
    (error: unknown) => {
      failure = error
    },
  )
  return {
    environment,
    progress: () => progress,
    overtakes: () => overtakes,
    failure: () => failure,
  }
}

/** One that has begun to have what its owner has. */
export async function followed(
  journal: Pick<Journal, 'readHead' | 'read' | 'trim'>,
  timers: VirtualTimers,
): Promise<Following> {
  const following = follow(journal, timers)
  await untilSo(timers, () => (following.progress()?.applied ?? 0) > 0)
  return following
}

/** Lets time pass in small steps, so that each of two who go by it has its turn. */
export async function passes(timers: VirtualTimers, byMs: number): Promise<void> {
  for (let left = byMs; left > 0; left -= STEP_MS) await timers.pass(Math.min(STEP_MS, left))
}

/** Lets time pass until it is so: what is written to a disk takes time of its own. */
export async function untilSo(timers: VirtualTimers, isSo: () => boolean): Promise<void> {
  await expect
    .poll(async () => {
      await timers.pass(STEP_MS)
      return isSo()
    })
    .toBe(true)
}
