import { startWaitingCalls } from './approval-load.js'
import { latenciesOf, ms, table, verdicts } from './figures.js'
import { driveOpen } from './load/drive-open.js'
import { heldBy, MIB } from './memory.js'
import { number } from './option-kinds.js'
import { readOptions } from './options.js'
import { judgePhases } from './phase-judgement.js'
import { publish } from './results-file.js'
import { say } from './say.js'
import { startSinkStack } from './sink-stack.js'
import { WALLETS } from './usage-parts.js'
import { createSends, measureWritePath } from './write-path.js'

/**
 * `npm run bench -- approvals`: the latency of sends while a thousand calls of the same wallets wait
 * for people. Phases without and with them alternate, each round in the opposite order, so that
 * growth over time favours neither side; between phases the calls are requested or withdrawn.
 */
const run = readOptions({
  name: 'approvals',
  takes:
    'about 40 s, twice --seconds a round, and some 10 s a round for a thousand calls: 5 minutes',
  disk: 'about 6 kB a send, 20 kB a call that waits: 200 MB',
  results: 'approvals.json',
  runsOn: 'linux',
  options: {
    rate: number('sends a second', { steps: 'whole', min: 1, max: 10_000, byDefault: 200 }),
    waiting: number('calls that wait', { steps: 'whole', min: 1, max: 4_000, byDefault: 1_000 }),
    // The control compares two phases without waiting calls.
    rounds: number('rounds of a phase without and one with', {
      steps: 'whole',
      min: 2,
      max: 1_000,
      byDefault: 8,
    }),
    seconds: number('how long a phase is', { steps: 'any', min: 1, max: 3_600, byDefault: 10 }),
    wallets: { ...WALLETS, byDefault: 16 },
  },
})
const { rate, waiting, rounds, seconds, wallets } = run.values
/** Until the code is compiled. */
const WARM_UP = { callers: 16, runMs: 5_000 }
const CONNECTIONS = 256
const CONNECTIONS_AT_START = 16
/** The most service memory that a waiting call may use; its calldata is empty here. */
const BYTES_PER_CALL_MAX = 64 * 1_024

interface Phase {
  /** Latencies of accepted sends, from when each was due. */
  readonly latenciesMs: readonly number[]
  readonly lost: number
  readonly ownBytes: number
}

const ASKED_ABOVE_WEI = 1_000
const large = {
  ...{ name: 'large', effect: 'require_approval' },
  when: { value_native_gt: String(ASKED_ABOVE_WEI) },
}
const stack = await startSinkStack({ wallets, policy: { rules: [large], default: 'allow' } })
try {
  const next = createSends(stack)
  const sends = async (): Promise<Phase> => {
    const latenciesMs: number[] = []
    const { offered } = await driveOpen({
      port: stack.port,
      perSecond: rate,
      runMs: seconds * 1_000,
      connections: CONNECTIONS,
      openAtStart: CONNECTIONS_AT_START,
      next: () => next(0),
      onDone: (_, latencyMs) => latenciesMs.push(latencyMs),
    })
    const { ownBytes } = heldBy(stack.pids.service)
    return { latenciesMs, lost: offered - latenciesMs.length, ownBytes }
  }
  const calls = startWaitingCalls({ stack, value: String(ASKED_ABOVE_WEI + 1) })
  await measureWritePath(stack, WARM_UP)
  await calls.ask(waiting)
  await sends()
  await calls.withdrawAll()
  const each: { readonly without: Phase; readonly during: Phase }[] = []
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    if (round % 2 === 0) {
      const without = await sends()
      await calls.ask(waiting)
      each.push({ without, during: await sends() })
    } else {
      const during = await sends()
      await calls.withdrawAll()
      each.push({ without: await sends(), during })
    }
  }
  await calls.withdrawAll()
  const judgement = judgePhases(
    each.map(({ without, during }) => ({
      withoutMs: without.latenciesMs,
      duringMs: during.latenciesMs,
    })),
  )
  const grownBytes = each.map(({ without, during }) => during.ownBytes - without.ownBytes)
  const perCall = Math.max(...grownBytes) / waiting
  const bars = {
    sends_p99_within_10_percent: judgement.met,
    memory_bounded: perCall <= BYTES_PER_CALL_MAX,
  }
  const list = (ratios: readonly number[]) => ratios.map((it) => it.toFixed(2)).join(', ')
  const row = (label: string, phases: readonly Phase[]) => {
    const { p50Ms, p95Ms, p99Ms } = latenciesOf(phases.flatMap((phase) => phase.latenciesMs))
    const lost = phases.reduce((sum, phase) => sum + phase.lost, 0)
    const held = Math.max(...phases.map(({ ownBytes }) => ownBytes)) / MIB
    return [label, ...[p50Ms, p95Ms, p99Ms].map(ms), String(lost), held.toFixed(0)]
  }
  const rows = [
    row(
      'none wait',
      each.map(({ without }) => without),
    ),
    row(
      `${waiting} wait`,
      each.map(({ during }) => during),
    ),
  ]
  publish(
    run,
    {
      ratios: {
        waiting_p99_with_vs_without: judgement.ratio,
        waiting_p99_with_vs_without_pooled: judgement.pooled,
        waiting_p99_control: judgement.control,
      },
      bars,
      judgement,
      bytesPerWaitingCall: perCall,
      phases: each.map(({ without, during }) => [without, during].map(figuresOf)),
    },
    [
      table([`${rate} sends/s`, 'p50 ms', 'p95 ms', 'p99 ms', 'lost', 'MiB'], rows),
      '',
      `p99 with ÷ without, median of rounds: ${judgement.ratio.toFixed(2)}  (${list(judgement.byRound)})`,
      `p99 with ÷ without, all sends pooled: ${judgement.pooled.toFixed(2)}`,
      `control, p99 without ÷ without:       ${judgement.control.toFixed(2)}  (${list(judgement.controlByPair)})`,
      `memory of a call that waits:          at most ${(perCall / 1_024).toFixed(1)} KiB`,
      ...verdicts(bars),
    ].join('\n'),
  )
} finally {
  await stack.stop()
}

/** A phase without its thousands of latencies. */
function figuresOf({ latenciesMs, lost, ownBytes }: Phase): object {
  return { sends: latenciesMs.length, lost, ownBytes, ...latenciesOf(latenciesMs) }
}
