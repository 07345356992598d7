import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { EngineName } from './engines.js'
import { FAULTS } from './faults.js'
import { beginWorld, type Outcome, type StandingWorld } from './run-world.js'
import { WorldError } from './world.js'

/**
 * Each fault in a world of its own, by one seed after another. `CLUSTER_FAULTS_SEEDS` how many of each,
 * `CLUSTER_FAULTS_SEED` the first, `CLUSTER_FAULTS_ONLY` names of faults by a comma, or parts of them,
 * `CLUSTER_FAULTS_ENGINE` what the journal is in, `CLUSTER_FAULTS_CELLS=2` has users dealt out to two, `CLUSTER_FAULTS_SENDS` of each world,
 * `CLUSTER_FAULTS_RESULTS` the file that figures go to; with `CLUSTER_FAULTS_BOUNDS=1` a late answer fails.
 */
const env = process.env
const engine: EngineName = env.CLUSTER_FAULTS_ENGINE === 'restate' ? 'restate' : 'postgres'
const cells = env.CLUSTER_FAULTS_CELLS === '2' ? 2 : 1
const first = Number(env.CLUSTER_FAULTS_SEED ?? Date.now() % 1_000_000)
const count = Number(env.CLUSTER_FAULTS_SEEDS ?? 10)
const sends = Number(env.CLUSTER_FAULTS_SENDS ?? 200)
const only = (env.CLUSTER_FAULTS_ONLY ?? '').split(',').filter((part) => part !== '')
const isBound = env.CLUSTER_FAULTS_BOUNDS === '1'
const results = env.CLUSTER_FAULTS_RESULTS ?? `bench/results/cluster-faults-${engine}.json`

const WORLD_MS_MAX = 600_000
const seeds = Array.from({ length: count }, (_, index) => first + index)
const wanted = FAULTS.filter(
  (fault) => fault.engine === undefined || fault.engine === engine,
).filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)))
const outcomes: Omit<Outcome, 'said'>[] = []
mkdirSync(dirname(results), { recursive: true })

describe.each(wanted)('nothing is lost or doubled: $name', (fault) => {
  let world: StandingWorld | null = null
  const leave = async () => {
    const left = world
    world = null
    await left?.stop()
  }
  afterAll(leave, WORLD_MS_MAX)

  test.each(seeds)('seed %i', { timeout: WORLD_MS_MAX }, async (seed) => {
    const logs = join(dirname(results), `${engine}, ${fault.name}, ${seed}.log`)
    const left = first + count - seed
    try {
      world ??= await beginWorld(engine, fault, fault.isFinal ? 1 : left, cells)
      const { said, ...outcome } = await world.run(seed, sends)
      outcomes.push(outcome)
      keep()
      say(outcome)
      const isWrong = outcome.wrong.length > 0
      const isLate = isBound && outcome.firstAnswerMs > (outcome.wantedMs ?? WORLD_MS_MAX)
      if (isWrong || isLate) writeFileSync(logs, said)
      // What is wrong once would be found each time from then on.
      if (isWrong || fault.isFinal) await leave()
      expect(outcome.wrong, logs).toEqual([])
      if (isLate) expect.fail(`late: ${outcome.firstAnswerMs} of ${outcome.wantedMs} ms: ${logs}`)
    } catch (error) {
      if (error instanceof WorldError) {
        writeFileSync(logs, error.said)
        await leave()
      }
      throw error
    }
  })
})

afterAll(() => {
  const total = outcomes.reduce((sum, it) => sum + it.sends, 0)
  process.stdout.write(`${engine}: ${total} sends after ${outcomes.length} faults\n`)
  for (const { name } of FAULTS) {
    const own = outcomes.filter(({ fault }) => fault === name)
    if (own.length > 0) process.stdout.write(`${summary(name, own)}\n`)
  }
})

type Kept = (typeof outcomes)[number]

function summary(name: string, own: readonly Kept[]): string {
  const all = own.reduce((sum, { sends: sent }) => sum + sent, 0)
  const answers = own.map(({ firstAnswerMs }) => firstAnswerMs).sort((one, other) => one - other)
  const held = own.filter(({ wrong }) => wrong.length === 0).length
  const late = own.filter((it) => it.wantedMs !== null && it.firstAnswerMs > it.wantedMs).length
  const median = answers[answers.length >> 1]
  return `${name}: ${all} sends, ${held} of ${own.length} held, first answer after ${median} ms in the median, ${answers.at(-1)} at most${late > 0 ? `, ${late} late` : ''}`
}

function keep(): void {
  writeFileSync(results, `${JSON.stringify({ engine, first, sends, outcomes }, null, 2)}\n`)
}

function say({
  fault,
  seed,
  sends: sent,
  firstAnswerMs,
  longestMs,
  wantedMs,
  elsewhereMs,
  wrong,
}: (typeof outcomes)[number]): void {
  const elsewhere = elsewhereMs === null ? '' : `, of the other cell ${elsewhereMs} ms`
  const bound = wantedMs === null ? '' : ` (wanted ${wantedMs})`
  const verdict = wrong.length === 0 ? 'held' : `${wrong.length} WRONG`
  process.stdout.write(
    `${fault}, seed ${seed}: ${sent} sends, first answer after ${firstAnswerMs} ms${bound}, longest pause ${longestMs} ms${elsewhere}: ${verdict}\n`,
  )
}
