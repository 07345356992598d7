import { parseArgs } from 'node:util'
import { measureAnvil } from './anvil-writes.js'
import { openBench } from './open-bench.js'
import { measureParts } from './parts.js'
import { measureBare } from './quorum.js'
import { chartOf, printed } from './report.js'
import { runContext, writeResults } from './results-file.js'
import { measureRound, type Round, type RoundTimes } from './round.js'
import { medianOfRounds } from './rounds.js'

/**
 * `npm run bench`: the parts, the two keys alone, the whole write path, the plain server and the
 * reads, in one run and in turns, so that ratios hold on a noisy machine.
 */
const HELP = `npm run bench -- [options]

  --short        one round, short, without anvil: under 2 minutes
  --rounds N     how many rounds; figures are medians over them (default 5)
  --no-anvil     leave out the runs on a real node
  --json         print the results file instead of tables
  --help

Writes bench/results/latest.json and bench/results/latest.svg.
Also: bench:write, bench:signing, bench:flat, bench:overload, bench:soak, bench:compare A B.`

const WALLETS = 128
const FULL: RoundTimes = { quorumMs: 2_000, writeMs: 5_000, readMs: 2_000 }
const SHORT: RoundTimes = { quorumMs: 1_000, writeMs: 3_000, readMs: 1_500 }
const ANVIL_RUN_MS = 8_000

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    'no-anvil': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const count = Number(values.rounds ?? (values.short ? 1 : 5))
if (!Number.isInteger(count) || count < 1 || count > 100) {
  console.error('--rounds must be a number from 1 to 100')
  process.exit(2)
}

const say = (line: string): void => {
  process.stderr.write(`bench  ${line}\n`)
}

try {
  const started = performance.now()
  say('parts')
  const parts = await measureParts()
  const barePerSecond = await measureBare()
  say('starting the quorum, the service, the plain server')
  const bench = await openBench(WALLETS)
  const rounds: Round[] = []
  try {
    for (let round = 1; round <= count; round++) {
      say(`round ${round} of ${count}`)
      rounds.push(await measureRound(bench, values.short ? SHORT : FULL))
    }
  } finally {
    await bench.close()
  }
  const anvil = values.short || values['no-anvil'] ? [] : await measureAnvil(ANVIL_RUN_MS, say)
  const { ratios, ...medians } = medianOfRounds(rounds)
  const results = {
    context: runContext(),
    rounds: count,
    ratios,
    barePerSecond,
    parts,
    ...medians,
    anvil,
    ratiosOfRounds: rounds.map((round) => round.ratios),
  }
  const path = writeResults('latest.json', results)
  const chart = writeResults('latest.svg', chartOf(results))
  console.log(values.json ? JSON.stringify(results, null, 2) : printed(results))
  say(`${path} and ${chart}, in ${Math.round((performance.now() - started) / 1_000)} s`)
} catch (error) {
  console.error(error instanceof Error ? (error.stack ?? error.message) : error)
  process.exitCode = 1
}
