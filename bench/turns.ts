import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CpuSpent } from './cpu.js'
import { median, table, verdicts } from './figures.js'
import { number } from './option-kinds.js'
import { readOptions, refuse } from './options.js'
import { QUORUM_FULL } from './quorum.js'
import { measureReads } from './reads.js'
import { publish } from './results-file.js'
import { say } from './say.js'
import type { SinkStack } from './sink-stack.js'
import { measureWritePath } from './write-path.js'

/**
 * `npm run bench -- turns <checkout>`: compares this build with another checkout of the project,
 * such as a release, alternating, each round in the opposite order, over several starts of both.
 * Both run at once, each with its own code; the load generator is this build's and drives one at a
 * time.
 */
const run = readOptions({
  name: 'turns',
  takes: 'a minute a start, and ten times --seconds a round: 10 minutes',
  disk: 'about 6 kB a send: 2 GB',
  results: 'turns.json',
  runsOn: 'linux',
  options: {
    callers: number('callers of writes at once', {
      ...{ steps: 'whole', min: 1, max: 1_024, byDefault: 128 },
    }),
    starts: number('times that both are started again', {
      ...{ steps: 'whole', min: 1, max: 100, byDefault: 4 },
    }),
    rounds: number('rounds of each, over all starts', {
      steps: 'whole',
      min: 2,
      max: 1_000,
      byDefault: 16,
    }),
    seconds: number('how long each', { steps: 'any', min: 0.5, max: 3_600, byDefault: 2 }),
  },
  files: ['checkout'],
})
const { callers, rounds, seconds, starts } = run.values
const RUN_MS = seconds * 1_000
const WALLETS = 128
const WRITE_WARM_UP_MS = 15_000
const READ_WARM_UP_MS = 3_000
const QUORUM_WARM_UP_MS = 5_000
/** Relative to the earlier build's rate. */
const BOUND = 0.98
const READS = ['limits', 'transaction', 'mcpLimits'] as const

/** The builds that are measured, in the order of the columns. */
type Turn = 'before' | 'now'
const checkouts: Readonly<Record<Turn, string>> = {
  before: resolve(run.files[0] ?? ''),
  now: process.cwd(),
}
const built = (turn: Turn, module: string) => join(checkouts[turn], 'dist', 'bench', module)
if (!existsSync(built('before', 'sink-stack.js'))) {
  refuse(`${checkouts.before} is no built checkout of the project; npm run build makes it one`)
}

/** Process entries are resolved from the working directory. */
async function from<Module, Value>(
  turn: Turn,
  module: string,
  start: (loaded: Module) => Promise<Value>,
): Promise<Value> {
  process.chdir(checkouts[turn])
  try {
    return await start((await import(pathToFileURL(built(turn, module)).href)) as Module)
  } finally {
    process.chdir(checkouts.now)
  }
}

interface Round {
  readonly perSecond: number
  /** CPU that one operation costs in all processes that answer. */
  readonly cpuMicros: number
}

interface Compared {
  readonly what: string
  readonly rates: Readonly<Record<Turn, number>>
  readonly vsBefore: number
  /** Medians, microseconds an operation. A machine that is shared changes them less than rates. */
  readonly cpuMicros: Readonly<Record<Turn, number>>
  readonly cpuVsBefore: number
}

type Rounds = Record<Turn, Round[]>

/** All rounds of all starts, by what is measured. */
const measured = new Map<string, Rounds>()

/** The rounds of one start, each in the opposite order. */
async function byTurns(what: string, measure: (turn: Turn) => Promise<Round>): Promise<void> {
  const done = measured.get(what) ?? { before: [], now: [] }
  measured.set(what, done)
  for (let round = 0; round < Math.ceil(rounds / starts); round++) {
    say(`${what}, round ${done.now.length + 1}`)
    const order: readonly Turn[] = round % 2 === 0 ? ['before', 'now'] : ['now', 'before']
    for (const turn of order) done[turn].push(await measure(turn))
  }
}

function comparedOf([what, done]: readonly [string, Rounds]): Compared {
  const compare = (figure: keyof Round) => {
    const figures = (turn: Turn) => done[turn].map((round) => round[figure])
    const before = figures('before')
    const now = figures('now')
    const vsBefore = median(now.map((value, round) => value / (before[round] ?? 0)))
    return { medians: { before: median(before), now: median(now) }, vsBefore }
  }
  const rates = compare('perSecond')
  const cpu = compare('cpuMicros')
  return {
    ...{ what, rates: rates.medians, vsBefore: rates.vsBefore },
    ...{ cpuMicros: cpu.medians, cpuVsBefore: cpu.vsBefore },
  }
}

/** @param spent by process, per operation */
function cpuOf(spent: Readonly<Record<'service' | 'identity' | 'quorum', CpuSpent>>): number {
  return spent.service.total + spent.identity.total + spent.quorum.total
}

type Stacks = typeof import('./sink-stack.js')
type Reads = typeof import('./reads.js')
type Quorums = typeof import('./quorum.js')

/** @param order in which both are started; the second finds a busier machine */
async function overStacks(order: readonly [Turn, Turn]): Promise<void> {
  const stacks = {} as Record<Turn, SinkStack>
  try {
    for (const turn of order) {
      stacks[turn] = await from(turn, 'sink-stack.js', ({ startSinkStack }: Stacks) =>
        startSinkStack({ wallets: WALLETS }),
      )
    }
    const targets = {} as Record<Turn, Awaited<ReturnType<Reads['readTargets']>>>
    for (const turn of order) {
      targets[turn] = await from(turn, 'reads.js', ({ readTargets }: Reads) =>
        readTargets(stacks[turn]),
      )
      await measureWritePath(stacks[turn], { callers, runMs: WRITE_WARM_UP_MS })
    }
    await byTurns('write', async (turn) => {
      const { perSecond, refused, cpuMicros } = await measureWritePath(stacks[turn], {
        ...{ callers, runMs: RUN_MS },
      })
      if (Object.keys(refused).length > 0) throw new Error(`${turn} refused sends`)
      return { perSecond, cpuMicros: cpuOf(cpuMicros) }
    })
    for (const kind of READS) {
      for (const turn of order) await measureReads(targets[turn][kind], READ_WARM_UP_MS)
      await byTurns(kind, async (turn) => {
        const { perSecond, cpuMicros } = await measureReads(targets[turn][kind], RUN_MS)
        return { perSecond, cpuMicros: cpuMicros.server.total }
      })
    }
  } finally {
    await Promise.allSettled(order.map((turn) => stacks[turn]?.stop()))
  }
}

async function overQuorums(order: readonly [Turn, Turn]): Promise<void> {
  const quorums = {} as Record<Turn, Awaited<ReturnType<Quorums['openQuorum']>>>
  try {
    for (const turn of order) {
      quorums[turn] = await from(turn, 'quorum.js', ({ openQuorum }: Quorums) =>
        openQuorum(QUORUM_WARM_UP_MS),
      )
    }
    await byTurns('signing', async (turn) => {
      const { perSecond, cpuMicros } = await quorums[turn].measure(QUORUM_FULL, RUN_MS)
      return { perSecond, cpuMicros: cpuOf(cpuMicros) }
    })
  } finally {
    await Promise.allSettled(order.map((turn) => quorums[turn]?.close()))
  }
}

// A process keeps its luck, in what is compiled and where it lies in memory: two starts of one
// build differ by up to a twentieth.
for (let start = 0; start < starts; start++) {
  const order = start % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)
  say(`start ${start + 1} of ${starts}`)
  await overStacks(order)
  await overQuorums(order)
}
const compared = [...measured].map(comparedOf)
const nameOf = (what: string) => `${what}_vs_before`
const ratios = Object.fromEntries(compared.map(({ what, vsBefore }) => [nameOf(what), vsBefore]))
const bars = Object.fromEntries(
  compared.map(({ what, vsBefore }) => [`${nameOf(what)}_at_least_${BOUND}`, vsBefore >= BOUND]),
)
const rows = compared.map(({ what, rates, vsBefore, cpuMicros, cpuVsBefore }) => [
  ...[what, rates.before.toFixed(0), rates.now.toFixed(0), vsBefore.toFixed(3)],
  ...[cpuMicros.before.toFixed(1), cpuMicros.now.toFixed(1), cpuVsBefore.toFixed(3)],
])
const columns = ['what', 'before /s', 'now /s', 'now ÷ before', 'CPU µs before', 'now', 'ratio']
publish(
  run,
  { ratios, bars, before: checkouts.before, compared },
  [table(columns, rows), '', ...verdicts(bars)].join('\n'),
)
