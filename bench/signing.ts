import { count, ms, table } from './figures.js'
import { measureQuorum, type QuorumFigures } from './quorum.js'

/** `npm run bench:signing`: what two keys cost, alone. */
const RUN_MS = 2_000

console.log(quorumTable(await measureQuorum(RUN_MS)))

function quorumTable({ barePerSecond, keygenMs, loads }: QuorumFigures): string {
  const rows = loads.map(({ label, perSecond, p50Ms, p99Ms, cpuMicros }) => [
    label,
    count(perSecond),
    (perSecond / barePerSecond).toFixed(2),
    ms(p50Ms),
    ms(p99Ms),
    count(cpuMicros.service.total),
    count(cpuMicros.identity.total),
    count(cpuMicros.quorum.total),
  ])
  const head = ['quorum signing', '/s', '× bare', 'p50 ms', 'p99 ms', 'S µs', 'U µs', 'Q µs']
  return [
    `bare native secp256k1, one core: ${count(barePerSecond)}/s`,
    `key generation and grant: ${ms(keygenMs)} ms per wallet`,
    '',
    table(head, rows),
  ].join('\n')
}
