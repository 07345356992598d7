import { count, ms, table } from './figures.js'
import type { ReadFigures } from './reads.js'
import { refusedText } from './write-table.js'

/** One row per kind of read, the yardstick first; CPU per read, in microseconds. */
export function readsTable(reads: readonly ReadFigures[]): string {
  const [bare] = reads
  return table(
    [
      ...['reads, 32 callers', '/s', '× uWS', 'p50 ms', 'p95 ms', 'p99 ms'],
      ...['server µs', 'load µs', 'refused'],
    ],
    reads.map(({ label, perSecond, p50Ms, p95Ms, p99Ms, cpuMicros, refused }) => [
      label,
      count(perSecond),
      (perSecond / (bare?.perSecond ?? 1)).toFixed(2),
      ...[p50Ms, p95Ms, p99Ms].map(ms),
      cpuMicros.server.total.toFixed(1),
      cpuMicros.load.total.toFixed(1),
      refusedText(refused),
    ]),
  )
}
