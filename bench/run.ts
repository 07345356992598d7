import { measureAnvil } from './anvil-writes.js'
import { openBench, type WarmUpTimes } from './open-bench.js'
import { flag, number } from './option-kinds.js'
import { readOptions } from './options.js'
import { measureParts } from './parts.js'
import { barsOf, chartOf, printed } from './report.js'
import { publish, writeResults } from './results-file.js'
import { measureRound, type Round, type RoundTimes } from './round.js'
import { medianOfRounds } from './rounds.js'
import { say } from './say.js'
import type { WritePathFigures } from './write-path.js'

/**
 * `npm run bench -- run`: the parts, the two keys by themselves, the whole write path, the plain server
 * and the reads, in one run and alternating, so that ratios hold on a noisy machine.
 */
const run = readOptions({
  name: 'run',
  takes: 'about 8 minutes (5 rounds and anvil); with --short under 2 (1 round, no anvil)',
  disk: 'about 6 kB a send: 600 MB, with --short 150 MB',
  results: 'latest.json',
  runsOn: 'linux',
  options: {
    short: flag('1 round, of shorter loads, without anvil'),
    rounds: number('figures are medians over them (5, with --short 1)', {
      steps: 'whole',
      min: 1,
      max: 100,
      byDefault: null,
    }),
    'no-anvil': flag('leave out the runs on a real node'),
  },
})
const { short, rounds: wanted, 'no-anvil': noAnvil } = run.values

const WALLETS = 128
const FULL: RoundTimes = { quorumMs: 2_000, writeMs: 5_000, readMs: 2_000 }
const SHORT: RoundTimes = { quorumMs: 1_000, writeMs: 3_000, readMs: 1_500 }
/** After 6,000 sends compiling is a tenth of the service's CPU, and it continues beyond 20,000. */
const WARM_UP: WarmUpTimes = { quorumMs: 5_000, writeMs: 25_000, readMs: 2_000 }
const WARM_UP_SHORT: WarmUpTimes = { quorumMs: 2_000, writeMs: 6_000, readMs: 1_000 }
const ANVIL_RUN_MS = 8_000
const ROUNDS = 5
const count = wanted ?? (short ? 1 : ROUNDS)

const started = performance.now()
say('parts')
const parts = await measureParts()
const rounds = await measureRounds()
const onSink = { rounds: count, ...medianOfRounds(rounds), parts }
const ratiosOfRounds = rounds.map(({ ratios }) => ratios)
report(short || noAnvil ? [] : await onAnvil())

async function measureRounds(): Promise<readonly Round[]> {
  say('starting the quorum, the service, the plain server, and warming them')
  const bench = await openBench(WALLETS, short ? WARM_UP_SHORT : WARM_UP)
  const measured: Round[] = []
  try {
    for (let round = 1; round <= count; round++) {
      say(`round ${round} of ${count}`)
      measured.push(await measureRound(bench, short ? SHORT : FULL))
    }
  } finally {
    await bench.close()
  }
  return measured
}

/** Rounds that took minutes are written even if no node starts. */
async function onAnvil(): Promise<readonly WritePathFigures[]> {
  try {
    return await measureAnvil(ANVIL_RUN_MS, say)
  } catch (error) {
    say(`anvil failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
    return []
  }
}

function report(anvil: readonly WritePathFigures[]): void {
  const results = { ...onSink, anvil }
  const chart = writeResults('latest.svg', chartOf(results))
  publish(run, { ...results, bars: barsOf(results), ratiosOfRounds }, (context) =>
    printed(results, context),
  )
  say(`${chart}, in ${Math.round((performance.now() - started) / 1_000)} s`)
}
