import { count, ms, table } from './figures.js'
import type { QuorumLoad } from './quorum.js'

/** One row per load, beside native secp256k1 on one core; CPU per signature, in microseconds. */
export function quorumTable(loads: readonly QuorumLoad[]): string {
  return table(
    [
      'quorum alone',
      '/s',
      'bare /s',
      '× bare',
      'p50 ms',
      'p95 ms',
      'p99 ms',
      'S µs',
      'U µs',
      'Q µs',
    ],
    loads.map(({ label, perSecond, barePerSecond, vsBare, p50Ms, p95Ms, p99Ms, cpuMicros }) => [
      label,
      count(perSecond),
      count(barePerSecond),
      vsBare.toFixed(2),
      ...[p50Ms, p95Ms, p99Ms].map(ms),
      ...[cpuMicros.service, cpuMicros.identity, cpuMicros.quorum].map(({ total }) => count(total)),
    ]),
  )
}
