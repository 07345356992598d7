import type { CpuSpent } from './cpu.js'
import { count, ms, table } from './figures.js'
import type { WritePathFigures } from './write-path.js'

/** One row per load; CPU per send, in microseconds. */
export function writeTable(
  title: string,
  loads: readonly WritePathFigures[],
  quorumPerSecond: number | null,
): string {
  const names = [...new Set(loads.flatMap(({ cpuMicros }) => Object.keys(cpuMicros)))]
  const head = [
    title,
    'callers',
    '/s',
    ...(quorumPerSecond === null ? [] : ['× quorum']),
    'p50 ms',
    'p95 ms',
    'p99 ms',
    ...names.flatMap(cpuHead),
    'refused',
  ]
  const rows = loads.map((load) => [
    load.label,
    String(load.callers),
    count(load.perSecond),
    ...(quorumPerSecond === null ? [] : [(load.perSecond / quorumPerSecond).toFixed(2)]),
    ms(load.p50Ms),
    ms(load.p95Ms),
    ms(load.p99Ms),
    ...names.flatMap((name) => cpuCells(name, load.cpuMicros[name])),
    refusedText(load.refused),
  ])
  return table(head, rows)
}

/** The service by thread, the others as a whole. */
function cpuHead(name: string): string[] {
  if (name !== 'service') return [`${name} µs`]
  return ['service µs', '(main', 'worker', 'rest)']
}

function cpuCells(name: string, spent: CpuSpent | undefined): string[] {
  if (spent === undefined) return cpuHead(name).map(() => '–')
  const { total, main, busiest, others } = spent
  return (name === 'service' ? [total, main, busiest, others] : [total]).map(count)
}

export function refusedText(refused: Readonly<Record<string, number>>): string {
  const rows = Object.entries(refused).map(([what, n]) => `${what} × ${n}`)
  return rows.length === 0 ? '0' : rows.join(', ')
}
