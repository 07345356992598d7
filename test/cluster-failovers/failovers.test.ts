import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { SETTLES_MS } from '../../src/journal/watch-leader.js'
import type { EngineName } from '../cluster-faults/engines.js'
import { epochOf } from '../cluster-faults/whole.js'
import { startWorld, type World } from '../cluster-faults/world.js'

/**
 * `CLUSTER_TAKE_OVERS_COUNT` leaders are killed one after another while `CLUSTER_BUSY` processes take all the CPU that
 * they get. Each failover is one: a leader that is busy starting is not taken for gone.
 */
const env = process.env
const engine: EngineName = env.CLUSTER_FAULTS_ENGINE === 'restate' ? 'restate' : 'postgres'
const failovers = Number(env.CLUSTER_TAKE_OVERS_COUNT ?? 20)
const busy = Number(env.CLUSTER_BUSY ?? 20)
const TIMEOUT_MS = 3_600_000
/** Beside so many busy processes a service takes minutes to start. */
const COMES_BACK_MS = 600_000
const SERVES = { timeout: 300_000, interval: 50 }
/** What the processes said last, where a failover does not end. */
const SAID_FILE = 'bench/results/cluster-failovers.log'

const burners: ChildProcess[] = []
let world: World | null = null
afterAll(async () => {
  for (const each of burners) each.kill('SIGKILL')
  await world?.stop()
}, TIMEOUT_MS)

test('failovers do not follow one another on a machine with too much to do', {
  timeout: TIMEOUT_MS,
}, async () => {
  const there = await startWorld({ engine, isDiskSmall: false, cells: 1 })
  world = there
  for (let left = busy; left > 0; left--) {
    burners.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  }
  const cascades: string[] = []
  const tookMs: number[] = []
  for (let number = 1; number <= failovers; number++) {
    const leader = await there.leader()
    const epoch = await epochNow(there)
    const begunMs = performance.now()
    await leader.service.kill()
    await epochNow(there, epoch)
    tookMs.push(Math.round(performance.now() - begunMs))
    const wholeMs = await comesBack(there)
    await delay(SETTLES_MS)
    const by = (await epochNow(there)) - epoch
    if (by !== 1) cascades.push(`failover ${number}: the epoch rose by ${by}`)
    const load = loadavg()[0]?.toFixed(1)
    process.stdout.write(
      `failover ${number}: ${tookMs.at(-1)} ms, whole after ${wholeMs} ms, the epoch rose by ${by}, load ${load}\n`,
    )
  }
  const sorted = tookMs.toSorted((one, other) => one - other)
  const median = sorted[sorted.length >> 1]
  process.stdout.write(
    `${failovers} failovers beside ${busy} busy processes: ${median} ms in the median, ${sorted.at(-1)} at most; ${cascades.length} cascades\n`,
  )
  expect(cascades).toEqual([])
})

/** A leader that is busy answers a look late, and is looked at again. @param above what it was before */
async function epochNow(there: World, above = 0): Promise<number> {
  let epoch = 0
  const look = async () => {
    epoch = await epochOf(there.nodes).catch(() => 0)
    return epoch
  }
  await expect
    .poll(look, SERVES)
    .toBeGreaterThan(above)
    .catch((error: unknown) => failed(there, error))
  return epoch
}

async function comesBack(there: World): Promise<number> {
  const begunMs = performance.now()
  await there.whole(COMES_BACK_MS).catch((error: unknown) => failed(there, error))
  return Math.round(performance.now() - begunMs)
}

function failed(there: World, error: unknown): never {
  mkdirSync(dirname(SAID_FILE), { recursive: true })
  writeFileSync(SAID_FILE, there.said())
  throw error
}
