import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
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
 * `npm run bench:turns -- <checkout>`: this build next to another one of the project, such as that
 * of a release, by turns and each round in the other order, over several starts of both. Both run at
 * once, each by its own code; the load is this build's, and goes to one of them at a time.
 */
const run = readOptions({
  command: 'npm run bench:turns',
  measures: 'write path, reads and signing next to a built checkout of before, by turns',
  takes: 'a minute a start, and ten times --seconds a round: 10 minutes',
  disk: 'about 6 kB a send: 2 GB',
  results: 'turns.json',
  runsOn: 'linux',
  options: {
    callers: number('callers of writes at once', {
      ...{ steps: 'whole', min: 1, max: 1_024, byDefault: 128 },
    }),
    starts: number('times that both are started anew', {
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
/** Of the rate of before. */
const BOUND = 0.98
const READS = ['limits', 'transaction', 'mcpLimits'] as const

/** Who is measured, in the order of the columns. */
type Turn = 'before' | 'now'
const checkouts: Readonly<Record<Turn, string>> = {
  before: resolve(run.files[0] ?? ''),
  now: process.cwd(),
}
const built = (turn: Turn, module: string) => join(checkouts[turn], 'dist', 'bench', module)
if (!existsSync(built('before', 'sink-stack.js'))) {
  refuse(`${checkouts.before} is no built checkout of the project; npm run build makes it one`)
}

/** Entries of processes are named from the working directory. */
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

interface Compared {
  readonly what: string
  readonly rates: Readonly<Record<Turn, number>>
  readonly vsBefore: number
}

type Rates = Record<Turn, number[]>

/** All rounds of all starts, by what is measured. */
const measured = new Map<string, Rates>()

/** The rounds of one start; each in the other order than the one before. */
async function byTurns(what: string, perSecond: (turn: Turn) => Promise<number>): Promise<void> {
  const rates = measured.get(what) ?? { before: [], now: [] }
  measured.set(what, rates)
  for (let round = 0; round < Math.ceil(rounds / starts); round++) {
    say(`${what}, round ${rates.now.length + 1}`)
    const order: readonly Turn[] = round % 2 === 0 ? ['before', 'now'] : ['now', 'before']
    for (const turn of order) rates[turn].push(await perSecond(turn))
  }
}

function comparedOf([what, rates]: readonly [string, Rates]): Compared {
  const ofRound = (turn: Turn, round: number) => rates[turn][round] ?? 0
  const vsBefore = median(rates.now.map((rate, round) => rate / ofRound('before', round)))
  return { what, rates: { before: median(rates.before), now: median(rates.now) }, vsBefore }
}

type Stacks = typeof import('./sink-stack.js')
type Reads = typeof import('./reads.js')
type Quorums = typeof import('./quorum.js')

/** @param order in which both are started: the second finds a busier machine */
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
      const { perSecond, refused } = await measureWritePath(stacks[turn], {
        ...{ callers, runMs: RUN_MS },
      })
      if (Object.keys(refused).length > 0) throw new Error(`${turn} refused sends`)
      return perSecond
    })
    for (const kind of READS) {
      for (const turn of order) await measureReads(targets[turn][kind], READ_WARM_UP_MS)
      await byTurns(
        kind,
        async (turn) => (await measureReads(targets[turn][kind], RUN_MS)).perSecond,
      )
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
      return (await quorums[turn].measure(QUORUM_FULL, RUN_MS)).perSecond
    })
  } finally {
    await Promise.allSettled(order.map((turn) => quorums[turn]?.close()))
  }
}

// A process keeps its luck for life, in what is compiled and where it lies: two starts of one build
// differ by up to a twentieth.
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
const rows = compared.map(({ what, rates, vsBefore }) => [
  ...[what, rates.before.toFixed(0), rates.now.toFixed(0), vsBefore.toFixed(3)],
])
publish(
  run,
  { ratios, bars, before: checkouts.before, compared },
  [table(['what', 'before /s', 'now /s', 'now ÷ before'], rows), '', ...verdicts(bars)].join('\n'),
)
