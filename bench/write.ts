import { parseArgs } from 'node:util'
import { startSinkStack } from './sink-stack.js'
import { measureWritePath } from './write-path.js'
import { writeTable } from './write-table.js'

/**
 * `npm run bench:write`: the whole write path over the chain sink and nothing else, for work on
 * it. With BENCH_NODE_ARGUMENTS="--cpu-prof --cpu-prof-dir=…" its processes leave profiles.
 */
const { values } = parseArgs({
  options: {
    callers: { type: 'string', default: '1,32,128' },
    seconds: { type: 'string', default: '8' },
    wallets: { type: 'string', default: '128' },
  },
})

const runMs = Number(values.seconds) * 1_000
const stack = await startSinkStack({ wallets: Number(values.wallets) })
try {
  await measureWritePath(stack, { callers: 32, runMs: 2_000 })
  const loads = []
  for (const callers of values.callers.split(',').map(Number)) {
    loads.push(await measureWritePath(stack, { callers, runMs }))
  }
  console.log(writeTable('write path', loads, null))
} finally {
  await stack.stop()
}
