import { mkdirSync, writeFileSync } from 'node:fs'
import { count, ms, table } from './figures.js'
import { measureParts } from './parts.js'
import { measureQuorum } from './quorum.js'
import { anvilTarget, startStack } from './stack.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

/**
 * `npm run bench`: the parts, the two keys alone, and the whole write path against real anvil, in
 * one run, so that ratios hold on a noisy machine. `--short` halves the times.
 */
const short = process.argv.includes('--short')
const RUN_MS = short ? 3_000 : 8_000
const QUORUM_RUN_MS = short ? 1_000 : 2_000
const CHAIN = 8453
const WALLETS = 64
const LOADS = [
  { label: 'one caller', callers: 1 },
  { label: '32 callers', callers: 32 },
  { label: '128 callers', callers: 128 },
] as const

const parts = await measureParts()
console.log(
  table(
    ['part, one core', '/s', 'p50 µs', 'p99 µs'],
    parts.map(({ name, perSecond, p50Micros, p99Micros }) => [
      name,
      count(perSecond),
      p50Micros.toFixed(1),
      p99Micros.toFixed(1),
    ]),
  ),
)

const quorum = await measureQuorum(QUORUM_RUN_MS)
const quorumPerSecond = Math.max(...quorum.loads.map(({ perSecond }) => perSecond))

const stack = await startStack(WALLETS, CHAIN)
const loads: WritePathFigures[] = []
try {
  await measureWritePath(anvilTarget(stack, CHAIN), { callers: 8, runMs: 1_000 })
  for (const load of LOADS) {
    loads.push(await measureWritePath(anvilTarget(stack, CHAIN), { ...load, runMs: RUN_MS }))
  }
} finally {
  await stack.stop()
}

console.log(`\nquorum signing alone: ${count(quorumPerSecond)}/s at its best\n`)
console.log(
  table(
    [
      'write path, real anvil',
      '/s',
      '× quorum',
      'p50 ms',
      'p99 ms',
      'S µs',
      'U µs',
      'Q µs',
      'refused',
    ],
    loads.map((load) => [
      load.label,
      count(load.perSecond),
      (load.perSecond / quorumPerSecond).toFixed(2),
      ms(load.p50Ms),
      ms(load.p99Ms),
      count(load.cpuMicros.service?.total ?? 0),
      count(load.cpuMicros.identity?.total ?? 0),
      count(load.cpuMicros.quorum?.total ?? 0),
      Object.entries(load.refused)
        .map(([what, n]) => `${what} × ${n}`)
        .join(', ') || '0',
    ]),
  ),
)

const best = Math.max(...loads.map(({ perSecond }) => perSecond))
mkdirSync('bench/results', { recursive: true })
writeFileSync(
  'bench/results/latest.json',
  JSON.stringify(
    {
      at: new Date().toISOString(),
      ratios: { write_path_vs_quorum: best / quorumPerSecond },
      parts,
      quorum,
      loads,
    },
    null,
    2,
  ),
)
