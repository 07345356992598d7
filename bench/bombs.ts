import { type BombPhase, type BombRun, CHAINS, runBombs } from './bomb-run.js'
import { latenciesOf, ms, table, verdicts } from './figures.js'
import { number, word } from './option-kinds.js'
import { readOptions } from './options.js'
import { judgePhases } from './phase-judgement.js'
import { publish } from './results-file.js'

/**
 * `npm run bench -- bombs`: the latency of honest sends while one client sends 128 kB calldata that is
 * made to be expensive. Many short phases without and with it alternate, so that disturbances on
 * the machine affect both alike.
 */
const benchRun = readOptions({
  name: 'bombs',
  takes: 'about 40 s, and twice --seconds a round: 4 minutes',
  disk: 'about 6 kB a send: 80 MB',
  results: 'bombs.json',
  runsOn: 'linux',
  options: {
    rate: number('honest sends a second', { steps: 'whole', min: 1, max: 10_000, byDefault: 100 }),
    bombs: number('bombs a second', { steps: 'any', min: 0.1, max: 1_000, byDefault: 50 }),
    // The control compares two phases without bombs.
    rounds: number('rounds of a phase without and one with', {
      steps: 'whole',
      min: 2,
      max: 1_000,
      byDefault: 6,
    }),
    // Long compared with the burst that a rested key is allowed, because a persistent client is
    // judged.
    seconds: number('how long a phase is', { steps: 'any', min: 1, max: 3_600, byDefault: 15 }),
    chain: word('what the service sends to', CHAINS),
  },
})
const { rate, bombs, rounds, seconds, chain } = benchRun.values

const run = await runBombs({
  chain,
  sendsPerSecond: rate,
  bombsPerSecond: bombs,
  rounds,
  phaseMs: seconds * 1_000,
})
const judgement = judgePhases(
  run.rounds.map(({ without, during }) => ({
    withoutMs: without.latenciesMs,
    duringMs: during.latenciesMs,
  })),
)
const bars = { honest_p99_within_10_percent: judgement.met }
publish(
  benchRun,
  {
    ratios: {
      bombs_p99_with_vs_without: judgement.ratio,
      bombs_p99_with_vs_without_pooled: judgement.pooled,
      bombs_p99_control: judgement.control,
    },
    bars,
    judgement,
    answers: run.answers,
    worstBombMs: run.worstBombMs,
    phases: run.rounds.map(({ without, during }) => [figuresOf(without), figuresOf(during)]),
  },
  tablesOf(run),
)

function tablesOf({ rounds: each, answers, worstBombMs }: BombRun): string {
  const head = ['n', 'p50 ms', 'p95 ms', 'p99 ms', 'lost', 'S main', 'S others', 'chain']
  const without = each.map((round) => round.without)
  const during = each.map((round) => round.during)
  const rows = [row('without bombs', without), row(`${bombs} bombs/s`, during)]
  const list = (ratios: readonly number[]) => ratios.map((it) => it.toFixed(2)).join(', ')
  const { ratio, byRound, pooled, control, controlByPair } = judgement
  return [
    table([`${rate} sends/s`, ...head], rows),
    '',
    `bombs answered: ${JSON.stringify(answers)}, the slowest in ${ms(worstBombMs)} ms`,
    `p99 with ÷ without, median of rounds: ${ratio.toFixed(2)}  (${list(byRound)})`,
    `p99 with ÷ without, all sends pooled: ${pooled.toFixed(2)}`,
    `control, p99 without ÷ without:       ${control.toFixed(2)}  (${list(controlByPair)})`,
    ...verdicts(bars),
  ].join('\n')
}

function row(label: string, phases: readonly BombPhase[]): string[] {
  const latenciesMs = phases.flatMap((phase) => phase.latenciesMs)
  const { p50Ms, p95Ms, p99Ms } = latenciesOf(latenciesMs)
  const mean = (of: (phase: BombPhase) => number) =>
    phases.reduce((sum, phase) => sum + of(phase), 0) / phases.length
  const share = (of: (phase: BombPhase) => number) => `${(mean(of) * 100).toFixed(1)} %`
  return [
    label,
    String(latenciesMs.length),
    ...[p50Ms, p95Ms, p99Ms].map(ms),
    String(phases.reduce((sum, { lost }) => sum + lost, 0)),
    share(({ cpu }) => cpu.serviceMain),
    share(({ cpu }) => cpu.serviceOthers),
    share(({ cpu }) => cpu.chain),
  ]
}

/** A phase without its thousands of latencies. */
function figuresOf({ latenciesMs, lost, cpu }: BombPhase): object {
  return { sends: latenciesMs.length, lost, cpu, ...latenciesOf(latenciesMs) }
}
