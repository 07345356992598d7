import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { EXIT } from '../../src/cli/exit-codes.js'
import { PLANTED } from './planted.js'
import { runOnThreads, serveSeeds } from './run-on-threads.js'
import { notCalm, shrink } from './shrink.js'
import { type Outcome, simulate } from './simulation.js'

/** `npm run simulate`: runs worlds from seeds, and says of a failing one what happened. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    runs: { type: 'string' },
    for: { type: 'string', default: '1m' },
    shrink: { type: 'boolean', default: false },
    plant: { type: 'string' },
    seen: { type: 'boolean', default: false },
    // What the bundle was made without.
    without: { type: 'string' },
    lines: { type: 'string', default: '60' },
  },
})

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

function durationMs(text: string): number {
  const [, count, unit = ''] = /^(\d+)([smh])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  if (count === undefined || unitMs === undefined)
    throw new Error(`${text} is no time: 90s, 10m, 8h`)
  return Number(count) * unitMs
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const planted = PLANTED.find(({ what }) => what === values.plant) ?? null
if (values.plant !== undefined && planted === null) {
  throw new Error(`nothing such can be planted: ${PLANTED.map(({ what }) => what).join('; ')}`)
}

async function run(seed: number): Promise<Outcome> {
  const shrunk = values.shrink ? await shrink(seed, planted) : null
  return shrunk ?? simulate(seed, planted)
}

const onlySeed = values.seed === undefined ? null : Number(values.seed)
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
    for (const line of outcome.script.slice(-Number(values.lines))) print(`    ${line}`)
  }
}

async function runAll(): Promise<number> {
  if (onlySeed !== null) {
    ended(await run(onlySeed))
    return 1
  }
  const runs = values.runs === undefined ? null : Number(values.runs)
  const forMs = durationMs(values.for)
  return runOnThreads({ first: Number(values.from), runs, forMs, ended })
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
  if (values.seen) {
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
