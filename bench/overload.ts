import { count, median, ms, table, verdicts } from './figures.js'
import { driveOpen, type OpenFigures } from './load/drive-open.js'
import { heldBy, MIB } from './memory.js'
import { number } from './option-kinds.js'
import { readOptions } from './options.js'
import { publish } from './results-file.js'
import { createSentLog } from './sent-log.js'
import { startSinkStack } from './sink-stack.js'
import { WALLETS } from './usage-parts.js'
import { measureWritePath } from './write-path.js'
import { refusedText } from './write-table.js'

/**
 * `npm run bench -- overload`: ten times the capacity of the service, for a minute. Accepted sends
 * must be answered about as fast as usual and never be lost, others must be refused at once, memory
 * must stay flat, and everything must recover moments later.
 */
const run = readOptions({
  name: 'overload',
  takes: 'about 95 s, and --seconds, and up to a minute until all is confirmed',
  disk: 'about 6 kB a send taken: 500 MB',
  results: 'overload.json',
  runsOn: 'linux',
  options: {
    seconds: number('how long', { steps: 'any', min: 3, max: 3_600, byDefault: 60 }),
    factor: number('times what the service can do', {
      steps: 'any',
      min: 1,
      max: 100,
      byDefault: 10,
    }),
    wallets: WALLETS,
  },
})
const { factor, wallets } = run.values
const overloadMs = run.values.seconds * 1_000
/** Until most of the code is compiled, and the heap is as large as this load makes it. */
const WARM_UP = { callers: 128, runMs: 25_000 }
const CAPACITY_RUN_MS = 6_000
const CAPACITY_CALLERS = 64
/** The share of its capacity at which a service is run. */
const NORMAL_SHARE = 0.7
/** The slowest hundredth of 15 s is a matter of chance. */
const normalRunMs = Math.min(30_000, overloadMs)
const CONNECTIONS = 2_048
const RECOVERY_STEP_MS = 500
const RECOVERY_STEPS_MAX = 20
/**
 * For the overload's last third compared with the normal load; single seconds show garbage
 * collections.
 */
const MEMORY_BAR = 1.1
const RECOVERY_BAR_MS = 2_000
const CONFIRM_WAIT_MS = 60_000

const stack = await startSinkStack({ wallets })
const memory: number[] = []
const sampler = setInterval(() => memory.push(heldBy(stack.pids.service).ownBytes), 1_000)
try {
  const secretOf = new Map(stack.keys.map((key) => [key.address.toLowerCase(), key.secret]))
  await measureWritePath(stack, WARM_UP)
  const full = await measureWritePath(stack, { callers: CAPACITY_CALLERS, runMs: CAPACITY_RUN_MS })
  const log = createSentLog(stack, secretOf)
  const drive = (perSecond: number, runMs: number, openAtStart = 0) =>
    driveOpen({
      port: stack.port,
      perSecond,
      runMs,
      connections: CONNECTIONS,
      openAtStart,
      next: log.next,
      onDone: log.onDone,
    })
  memory.length = 0
  const normal = await drive(full.perSecond * NORMAL_SHARE, normalRunMs)
  const memoryBefore = endOf(memory)
  memory.length = 0
  const over = await drive(full.perSecond * factor, overloadMs, CONNECTIONS)
  const memoryDuring = [...memory]
  const resident = heldBy(stack.pids.service).residentBytes
  const recovered = await recovery(
    (runMs) => drive(full.perSecond * NORMAL_SHARE, runMs),
    2 * normal.p99Ms,
  )
  const lost = await log.lost(CONFIRM_WAIT_MS)
  const row = (label: string, it: OpenFigures) => [
    label,
    count(it.offered),
    count(it.perSecond),
    ms(it.p50Ms),
    ms(it.p99Ms),
    String(it.unsent),
    String(it.broken),
    refusedText(it.refused),
  ]
  const head = ['load', 'offered', 'taken/s', 'p50 ms', 'p99 ms', 'unsent', 'broken', 'refused']
  const rows = [
    row('normal', normal),
    row(`${factor} × overload`, over),
    row('afterwards', recovered.figures),
  ]
  const recoveryMs = recovered.afterMs
  const memoryAtEnd = endOf(memoryDuring)
  const ratios = {
    overload_p99_vs_normal: over.p99Ms / normal.p99Ms,
    overload_p99_vs_full: over.p99Ms / full.p99Ms,
    overload_memory_growth: memoryAtEnd / memoryBefore,
  }
  const summary = `capacity ${count(full.perSecond)}/s at ${CAPACITY_CALLERS} callers, p99 ${ms(full.p99Ms)} ms
p99 of what was taken: ${ratios.overload_p99_vs_normal.toFixed(2)} × normal (bar 2), ${ratios.overload_p99_vs_full.toFixed(2)} × full load
memory: ${mib(memoryBefore)} before, ${mib(memoryAtEnd)} MiB at the end, at most ${mib(Math.max(...memoryDuring))}; with the store's pages ${mib(resident)}
well again after ${recoveryMs === null ? 'more than 10 s' : `${(recoveryMs / 1_000).toFixed(1)} s`} (bar 2 s)
lost: ${lost.length} of ${count(log.count)} taken`
  const bars = {
    accepted_p99_within_2x: ratios.overload_p99_vs_normal <= 2,
    memory_is_flat: ratios.overload_memory_growth <= MEMORY_BAR,
    recovered_in_time: recoveryMs !== null && recoveryMs <= RECOVERY_BAR_MS,
    none_lost: lost.length === 0,
  }
  const findings = {
    ratios,
    bars,
    full,
    normal,
    over,
    afterwards: recovered.figures,
    recoveryMs,
    memoryBytes: memoryDuring,
    taken: log.count,
    lost,
  }
  publish(run, findings, `${table(head, rows)}\n\n${[summary, ...verdicts(bars)].join('\n')}`)
  if (lost.length > 0 || over.broken > 0) process.exitCode = 1
} finally {
  clearInterval(sampler)
  await stack.stop()
}

/** @returns the first stretch that was answered as before and when it began, or the last one */
async function recovery(
  drive: (runMs: number) => Promise<OpenFigures>,
  p99BarMs: number,
): Promise<{ readonly afterMs: number | null; readonly figures: OpenFigures }> {
  const startedAt = performance.now()
  for (let step = 1; ; step++) {
    const begun = performance.now() - startedAt
    const figures = await drive(RECOVERY_STEP_MS)
    const isWell = Object.keys(figures.refused).length === 0 && figures.p99Ms <= p99BarMs
    if (isWell) return { afterMs: begun, figures }
    if (step === RECOVERY_STEPS_MAX) return { afterMs: null, figures }
  }
}

/** The median of the last third. */
function endOf(samples: readonly number[]): number {
  return median(samples.slice(-Math.ceil(samples.length / 3)))
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(0)
}
