import { createHash } from 'node:crypto'
import { Command, InvalidArgumentError } from 'commander'
import { EXIT } from '../../src/cli/exit-codes.js'
import { aboutTransaction } from './about.js'
import { type Features, featuresOf, inCluster, withOutsiders } from './features.js'
import { parted } from './parted.js'
import { PLANTED } from './planted.js'
import { PLANTED_IN_CLUSTER, PLANTED_WHERE_PARTED } from './planted-in-cluster.js'
import { drawOf } from './random.js'
import { runOnThreads, serveSeeds } from './run-on-threads.js'
import { notCalm, shrink } from './shrink.js'
import { type Outcome, simulate } from './simulation.js'

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000 }

function durationMs(text: string): number {
  const [, times, unit] = /^(\d+)([smh])$/.exec(text) ?? []
  if (times === undefined) throw new InvalidArgumentError('It is no time: 90s, 10m, 8h.')
  return Number(times) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

function count(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is no whole number.')
}

interface Options {
  readonly seed?: number
  readonly from: number
  readonly runs?: number
  readonly for?: number
  readonly shrink?: true
  readonly plant?: string
  readonly without?: string
  readonly seen?: true
  readonly lines: number
  readonly about?: string
  readonly cluster?: true
  readonly parted?: true
  readonly outsiders?: true
}

/** `npm run simulate`: runs worlds from seeds, and says of a failing one what happened. */
const values = new Command('npm run simulate --')
  .description('Runs worlds from seeds, and says of one that fails what happened in it.')
  .option('--seed <n>', 'this one world', count)
  .option('--from <n>', 'the first of many', count, 1)
  .option('--runs <n>', 'how many; without it, as many as fit into the time', count)
  .option('--for <time>', '90s, 10m, 8h; without it, a minute', durationMs)
  .option('--lines <n>', 'of what happened, the last', count, 60)
  .option('--about <transaction>', 'of one world: each decision on it, in full')
  .option('--cluster', 'each on two or three machines over one journal')
  .option('--parted', 'the same, cut off from one another, with clocks that differ')
  .option('--outsiders', 'each with calls of its accounts that the service did not make')
  .option('--seen', 'count what happened, by kind')
  .option('--shrink', 'of a world that fails, the least that still fails')
  .option('--plant <fault>', 'put a fault into the service, by the words of planted.ts')
  .option('--without <fault>', 'take a mending out of it, by the words of mendings.ts')
  .parse()
  .opts<Options>()

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const planted =
  [...PLANTED, ...PLANTED_IN_CLUSTER, ...PLANTED_WHERE_PARTED].find(
    ({ what }) => what === values.plant,
  ) ?? null
if (values.plant !== undefined && planted === null) {
  throw new Error(`nothing such can be planted: ${PLANTED.map(({ what }) => what).join('; ')}`)
}

function worldOf(seed: number): Features {
  let features = featuresOf(drawOf(seed, 'features'))
  const isParted = values.parted === true
  if (values.cluster === true || isParted) features = inCluster(features, drawOf(seed, 'cluster'))
  if (isParted) features = parted(features, drawOf(seed, 'parted'))
  if (values.outsiders === true) features = withOutsiders(features, drawOf(seed, 'outsiders'))
  return features
}

async function run(seed: number): Promise<Outcome> {
  const features = worldOf(seed)
  const shrunk = values.shrink === true ? await shrink(seed, planted, features) : null
  if (shrunk !== null) return shrunk
  const { lines, about } = values
  const watching = about === undefined ? {} : { watching: aboutTransaction(about, print) }
  return simulate(seed, planted, features, { lines, ...watching })
}

const onlySeed = values.seed ?? null
const seen = new Map<string, number>()
const traces = createHash('sha256')
let commands = 0
let failed = 0

function ended(outcome: Outcome): void {
  commands += outcome.commands
  traces.update(outcome.traceHash)
  for (const [kind, count] of outcome.seen) seen.set(kind, (seen.get(kind) ?? 0) + count)
  if (onlySeed !== null) {
    print(`seed ${outcome.seed}: trace ${outcome.traceHash}, ${outcome.commands} commands`)
    print(`  ${JSON.stringify(notCalm(outcome.features))}`)
  }
  if (outcome.wrong.length === 0) return
  failed++
  print(`seed ${outcome.seed} (trace ${outcome.traceHash}) fails:`)
  for (const what of outcome.wrong) print(`  ${what}`)
  if (onlySeed !== null || failed === 1) {
    for (const line of outcome.script.slice(-values.lines)) print(`    ${line}`)
  }
}

async function runAll(): Promise<number> {
  if (onlySeed !== null) {
    ended(await run(onlySeed))
    return 1
  }
  const { from: first, runs = null, for: forMs = UNIT_MS.m } = values
  return runOnThreads({ first, runs, forMs, ended })
}

/** `head` has gone when it has enough: nobody reads, and nothing is wrong. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(EXIT.readerGone)
  })
}

async function main(): Promise<void> {
  endWithReader()
  const beganMs = performance.now()
  const beganCpu = process.cpuUsage()
  const done = await runAll()
  if (values.seen === true) {
    for (const [kind, count] of [...seen].sort()) print(`  ${kind}: ${count}`)
  }
  print(`traces ${traces.digest('hex').slice(0, 16)}`)
  const perMinute = (ms: number) => Math.round((commands / ms) * 60_000)
  const cpu = process.cpuUsage(beganCpu)
  const ofProcessor = perMinute((cpu.user + cpu.system) / 1_000)
  // A watcher that looks at a chain's head and finds none that is new decides as well.
  const others = commands - (seen.get('chain-watcher latest') ?? 0)
  print(`${commands} commands, ${others} of them no looks at the head of a chain`)
  print(`${perMinute(performance.now() - beganMs)} a minute, ${ofProcessor} a minute of processor`)
  print(`${done} worlds, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

if (!(await serveSeeds(run))) await main()
