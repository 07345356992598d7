import { number, numbers } from './option-kinds.js'
import { readOptions } from './options.js'
import { measureBare } from './quorum.js'
import { publish } from './results-file.js'
import { startSinkStack } from './sink-stack.js'
import { CALLERS_MAX, WALLETS } from './usage-parts.js'
import { measureWritePath } from './write-path.js'
import { writeTable } from './write-table.js'

/**
 * `npm run bench -- write`: the whole write path over the chain sink and nothing else, for work on it.
 * With BENCH_NODE_ARGUMENTS="--cpu-prof --cpu-prof-dir=…" its processes leave profiles.
 */
const run = readOptions({
  name: 'write',
  takes: 'about 35 s, and --seconds for each number of callers',
  disk: 'about 6 kB a send: 150 MB',
  results: 'write.json',
  runsOn: 'linux',
  options: {
    callers: numbers('callers at once, a load each', {
      steps: 'whole',
      min: 1,
      max: CALLERS_MAX,
      byDefault: [1, 32, 128],
      countMin: 1,
      countMax: 16,
    }),
    seconds: number('how long each load', { steps: 'any', min: 0.5, max: 3_600, byDefault: 8 }),
    wallets: WALLETS,
  },
})
const { callers, seconds, wallets } = run.values
/**
 * Until most of the code is compiled; after 6,000 sends compiling is a tenth of the service's CPU.
 */
const WARM_UP = { callers: 128, runMs: 20_000 }

const barePerSecond = await measureBare()
const stack = await startSinkStack({ wallets })
try {
  await measureWritePath(stack, WARM_UP)
  const loads = []
  for (const each of callers) {
    loads.push(await measureWritePath(stack, { callers: each, runMs: seconds * 1_000 }))
  }
  const best = Math.max(...loads.map(({ perSecond }) => perSecond))
  const ratios = { write_path_vs_bare_signing: best / barePerSecond }
  publish(run, { ratios, barePerSecond, loads }, writeTable('write path', loads, null))
} finally {
  await stack.stop()
}
