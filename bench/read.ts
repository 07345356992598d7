import { startChild } from './child-process.js'
import { number, words } from './option-kinds.js'
import { readOptions } from './options.js'
import { bareUwsTarget, measureReads, type ReadFigures, readTargets } from './reads.js'
import { readsTable } from './reads-table.js'
import { publish } from './results-file.js'
import { startSinkStack } from './sink-stack.js'
import { WALLETS } from './usage-parts.js'

/**
 * `npm run bench -- read`: the reads and their yardstick over the chain sink and nothing else, for
 * work on reads. With BENCH_NODE_ARGUMENTS="--cpu-prof --cpu-prof-dir=…" its processes leave
 * profiles.
 */
const READS = ['limits', 'transaction', 'mcpLimits'] as const
const run = readOptions({
  name: 'read',
  takes: 'about 15 s, and --seconds and one more for each kind of read',
  disk: 'about 10 MB',
  results: 'read.json',
  runsOn: 'linux',
  options: {
    only: words('which reads, next to the yardstick', READS),
    seconds: number('how long each', { steps: 'any', min: 0.5, max: 3_600, byDefault: 4 }),
    wallets: WALLETS,
  },
})
const { only, seconds, wallets } = run.values
/** As `npm run bench -- run` names them. */
const RATIO_NAMES = {
  limits: 'limits_vs_uws',
  transaction: 'transaction_vs_uws',
  mcpLimits: 'mcp_limits_vs_uws',
} as const
const WARM_UP_MS = 1_000

const stack = await startSinkStack({ wallets })
try {
  const bare = await startChild('dist/bench/bare-uws.js', {})
  try {
    const targets = { bareUws: bareUwsTarget(bare, stack), ...(await readTargets(stack)) }
    const reads: Record<string, ReadFigures> = {}
    for (const name of ['bareUws', ...only] as const) {
      await measureReads(targets[name], WARM_UP_MS)
      reads[name] = await measureReads(targets[name], seconds * 1_000)
    }
    const barePerSecond = reads.bareUws?.perSecond ?? 1
    const ratios = Object.fromEntries(
      only.map((name) => [RATIO_NAMES[name], (reads[name]?.perSecond ?? 0) / barePerSecond]),
    )
    publish(run, { ratios, reads }, readsTable(Object.values(reads)))
  } finally {
    await bare.stop()
  }
} finally {
  await stack.stop()
}
