import { statSync } from 'node:fs'
import { join } from 'node:path'
import { startStealMeter } from './cpu.js'
import { shortOfDisk } from './disk.js'
import { count, median, ms, table, verdicts } from './figures.js'
import { driveOpen, type OpenFigures } from './load/drive-open.js'
import { type Held, heldBy, MIB } from './memory.js'
import { number } from './option-kinds.js'
import { readOptions, refuse } from './options.js'
import { publish } from './results-file.js'
import { say } from './say.js'
import { startSinkStack } from './sink-stack.js'
import { slopeOf } from './slope.js'
import { WALLETS } from './usage-parts.js'
import { createSends, measureWritePath } from './write-path.js'
import { refusedText } from './write-table.js'

/** `npm run bench -- soak`: near the capacity of the service for half an hour; nothing may grow. */
const run = readOptions({
  name: 'soak',
  takes: 'about 40 s, and --minutes',
  disk: 'about 6 kB a send: 10 GB for 30 minutes at 900 a second',
  results: 'soak.json',
  runsOn: 'linux',
  options: {
    minutes: number('how long', { steps: 'any', min: 0.5, max: 10_080, byDefault: 30 }),
    share: number('of what the service can do', {
      steps: 'any',
      min: 0.01,
      max: 1,
      byDefault: 0.7,
    }),
    rate: number('sends a second, in place of a share', {
      steps: 'any',
      min: 1,
      max: 100_000,
      byDefault: null,
    }),
    wallets: WALLETS,
  },
})
const { minutes, share, rate, wallets } = run.values
const STEPS = 30
/** The store and both ledgers, and what a service does here before it is measured. */
const BYTES_PER_SEND = 6_000
const ABOUT_PER_SECOND = 1_000
const short = shortOfDisk(minutes * 60 * (rate ?? share * ABOUT_PER_SECOND) * BYTES_PER_SEND)
if (short !== null) refuse(short)
const CONNECTIONS = 512
const WARM_UP_MS = 8_000
const CAPACITY_RUN_MS = 8_000
const PROCESSES = ['service', 'identity', 'quorum'] as const
/** How much the last and the middle third may differ; the first warms caches and code. */
const MEMORY_BAR = 1.1
/**
 * Or by this much, however small the process: V8 doubles its young generation once in half an hour,
 * which took the quorum signer's 28 MiB to 31 and 32 in two soaks, and no further.
 */
const MEMORY_STEP_BYTES = 8 * MIB
const LATENCY_BAR = 1.25
/**
 * If other guests of the machine took more than this share of all cores, a step tells nothing about
 * latency or free connections, but still about memory.
 */
const STOLEN_MAX = 0.05

interface Step extends OpenFigures {
  readonly atMinutes: number
  readonly held: Readonly<Record<(typeof PROCESSES)[number], Held>>
  readonly storeBytes: number
  /** Share of all cores that the host gave to others during the step. */
  readonly stolen: number
}

const stack = await startSinkStack({ wallets })
try {
  await measureWritePath(stack, { callers: 32, runMs: WARM_UP_MS })
  const full = await measureWritePath(stack, { callers: 64, runMs: CAPACITY_RUN_MS })
  const perSecond = rate ?? full.perSecond * share
  const runMs = (minutes * 60_000) / STEPS
  const next = createSends(stack)
  say(`capacity ${count(full.perSecond)}/s; ${count(perSecond)}/s for ${minutes} min`)
  const steps: Step[] = []
  for (let i = 0; i < STEPS; i++) {
    const load = { port: stack.port, perSecond, runMs, connections: CONNECTIONS }
    const steal = startStealMeter()
    const figures = await driveOpen({ ...load, next: () => next(0) })
    const held = {
      service: heldBy(stack.pids.service),
      identity: heldBy(stack.pids.identity),
      quorum: heldBy(stack.pids.quorum),
    }
    const atMinutes = ((i + 1) * runMs) / 60_000
    const step = { ...figures, atMinutes, held, storeBytes: stored(), stolen: steal() }
    steps.push(step)
    const { p50Ms, p99Ms } = step
    const own = (held.service.ownBytes / MIB).toFixed(0)
    say(`${step.atMinutes.toFixed(1)} min: p50 ${ms(p50Ms)} ms, p99 ${ms(p99Ms)} ms, S ${own} MiB`)
  }
  report(full.perSecond, perSecond, steps)
} finally {
  await stack.stop()
}

function report(capacity: number, perSecond: number, steps: readonly Step[]): void {
  const mib = (bytes: number) => (bytes / MIB).toFixed(0)
  const stepsTable = table(
    [
      ...['after', '/s', 'p50 ms', 'p99 ms', 'S own MiB', 'U', 'Q', 'S resident', 'handles'],
      ...['store MiB', 'stolen', 'refused'],
    ],
    steps.map((step) => [
      `${step.atMinutes.toFixed(1)} min`,
      count(step.perSecond),
      ms(step.p50Ms),
      ms(step.p99Ms),
      ...PROCESSES.map((name) => mib(step.held[name].ownBytes)),
      mib(step.held.service.residentBytes),
      String(step.held.service.handles),
      mib(step.storeBytes),
      `${(step.stolen * 100).toFixed(0)} %`,
      refusedText(step.refused),
    ]),
  )
  const third = Math.floor(STEPS / 3)
  const settled = steps.slice(third)
  const undisturbed = (some: readonly Step[]) => some.filter(({ stolen }) => stolen <= STOLEN_MAX)
  const middle = (of: (step: Step) => number) => median(settled.slice(0, third).map(of))
  const last = (of: (step: Step) => number) => median(steps.slice(-third).map(of))
  const change = (of: (step: Step) => number) => last(of) / Math.max(1e-9, middle(of))
  /** NaN, and so never met, if a third has no step to judge. */
  const delayed = (of: (step: Step) => number) => {
    const thirds = [steps.slice(-third), settled.slice(0, third)].map(undisturbed)
    const [after = 0, before = 0] = thirds.map((some) => median(some.map(of)))
    return thirds.some((some) => some.length === 0) ? Number.NaN : after / before
  }
  const perHour = (of: (step: Step) => number) =>
    slopeOf(settled.map((step) => [step.atMinutes / 60, of(step)]))
  const ratios = {
    soak_service_memory_last_vs_middle: change(({ held }) => held.service.ownBytes),
    soak_identity_memory_last_vs_middle: change(({ held }) => held.identity.ownBytes),
    soak_quorum_memory_last_vs_middle: change(({ held }) => held.quorum.ownBytes),
    soak_p50_last_vs_middle: delayed(({ p50Ms }) => p50Ms),
    soak_p99_last_vs_middle: delayed(({ p99Ms }) => p99Ms),
  }
  const sends = settled.slice(1).reduce((sum, { done }) => sum + done, 0)
  const grownBytes = (steps.at(-1)?.storeBytes ?? 0) - (settled[0]?.storeBytes ?? 0)
  const slopes = {
    service_mib_per_hour: perHour(({ held }) => held.service.ownBytes) / MIB,
    identity_mib_per_hour: perHour(({ held }) => held.identity.ownBytes) / MIB,
    quorum_mib_per_hour: perHour(({ held }) => held.quorum.ownBytes) / MIB,
    service_handles_per_hour: perHour(({ held }) => held.service.handles),
    p50_ms_per_hour: perHour(({ p50Ms }) => p50Ms),
    p99_ms_per_hour: perHour(({ p99Ms }) => p99Ms),
    store_bytes_per_send: grownBytes / Math.max(1, sends),
  }
  const { soak_p50_last_vs_middle: p50, soak_p99_last_vs_middle: p99 } = ratios
  const holds = PROCESSES.map(
    (name) =>
      ({ held }: Step) =>
        held[name].ownBytes,
  )
  const bars = {
    memory_is_flat: holds.every(
      (of) => change(of) <= MEMORY_BAR || last(of) - middle(of) <= MEMORY_STEP_BYTES,
    ),
    latency_is_flat: Math.max(p50, p99) <= LATENCY_BAR,
    none_lost: steps.every(({ broken }) => broken === 0),
    // A request that found all connections busy was never sent; that shows a pause, not a loss.
    all_sent: undisturbed(steps).every(({ unsent }) => unsent === 0),
    none_refused: steps.every(({ refused }) => Object.keys(refused).length === 0),
  }
  const lines = [
    `latency judged by ${undisturbed(steps).length} of ${steps.length} steps, in which others took at most ${STOLEN_MAX * 100} % of the machine`,
    ...Object.entries({ ...ratios, ...slopes }).map(([name, it]) => `${name} ${it.toFixed(2)}`),
    ...verdicts(bars),
  ]
  publish(
    run,
    { ratios, slopes, bars, capacity, perSecond, steps },
    `${stepsTable}\n\n${lines.join('\n')}`,
  )
}

/** Disk space of the store's file. */
function stored(): number {
  return statSync(join(stack.home, 'service', 'store', 'data.mdb')).size
}
