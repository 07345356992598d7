import { parseArgs } from 'node:util'
import { residentBytes } from './cpu.js'
import { count, median, ms, table } from './figures.js'
import { driveOpen } from './load/drive-open.js'
import { runContext, writeResults } from './results-file.js'
import { startSinkStack } from './sink-stack.js'
import { createSends, measureWritePath } from './write-path.js'
import { refusedText } from './write-table.js'

/** `npm run bench:soak`: most of what the service can do, for half an hour; nothing may creep. */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    share: { type: 'string', default: '0.7' },
    wallets: { type: 'string', default: '128' },
  },
})
const STEPS = 30
const CONNECTIONS = 512
const CAPACITY_RUN_MS = 8_000
const MIB = 1024 * 1024

interface Step {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly refused: Readonly<Record<string, number>>
  /** Resident bytes of the service, U and Q. */
  readonly memory: Readonly<Record<'service' | 'identity' | 'quorum', number>>
}

const stack = await startSinkStack({ wallets: Number(values.wallets) })
try {
  await measureWritePath(stack, { callers: 32, runMs: 2_000 })
  const full = await measureWritePath(stack, { callers: 64, runMs: CAPACITY_RUN_MS })
  const perSecond = full.perSecond * Number(values.share)
  const runMs = (Number(values.minutes) * 60_000) / STEPS
  const next = createSends(stack)
  console.log(
    `capacity ${count(full.perSecond)}/s; ${count(perSecond)}/s for ${values.minutes} min`,
  )
  const steps: Step[] = []
  for (let i = 0; i < STEPS; i++) {
    const figures = await driveOpen({
      port: stack.port,
      perSecond,
      runMs,
      connections: CONNECTIONS,
      next: () => next(0),
    })
    const { service, identity, quorum } = stack.pids
    const memory = {
      service: residentBytes(service),
      identity: residentBytes(identity),
      quorum: residentBytes(quorum),
    }
    steps.push({ ...figures, memory })
  }
  const rows = steps.map((step, i) => [
    `${(((i + 1) * runMs) / 60_000).toFixed(1)} min`,
    count(step.perSecond),
    ms(step.p50Ms),
    ms(step.p99Ms),
    ...Object.values(step.memory).map((bytes) => (bytes / MIB).toFixed(0)),
    refusedText(step.refused),
  ])
  console.log(
    table(['after', '/s', 'p50 ms', 'p99 ms', 'S MiB', 'U MiB', 'Q MiB', 'refused'], rows),
  )
  // The first third warms caches and fills the map of the store.
  const third = Math.floor(STEPS / 3)
  const change = (of: (step: Step) => number) =>
    median(steps.slice(-third).map(of)) / median(steps.slice(third, 2 * third).map(of))
  const ratios = {
    soak_memory_last_vs_middle: change(({ memory }) => memory.service),
    soak_p50_last_vs_middle: change(({ p50Ms }) => p50Ms),
    soak_p99_last_vs_middle: change(({ p99Ms }) => p99Ms),
  }
  console.log(
    Object.entries(ratios)
      .map(([name, it]) => `${name} ${it.toFixed(2)}`)
      .join('\n'),
  )
  writeResults('soak.json', { context: runContext(), ratios, full, steps })
} finally {
  await stack.stop()
}
