import { parseArgs } from 'node:util'
import { numberOf, startChild } from './child-process.js'
import { httpRequest } from './load/connection.js'
import { measureReads, readTargets } from './reads.js'
import { startSinkStack } from './sink-stack.js'

/**
 * `npm run bench:read`: the reads and their yardstick over the chain sink and nothing else, for
 * work on them. With BENCH_NODE_ARGUMENTS="--cpu-prof --cpu-prof-dir=…" its processes leave
 * profiles.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'bareUws,limits,transaction,mcpLimits' },
    seconds: { type: 'string', default: '4' },
    wallets: { type: 'string', default: '128' },
  },
})

const stack = await startSinkStack({ wallets: Number(values.wallets) })
try {
  const bare = await startChild('dist/bench/bare-uws.js', {})
  try {
    const bareUws = {
      label: 'bare uWebSockets.js',
      port: numberOf(bare, 'port'),
      pid: bare.pid,
      requests: [httpRequest('GET', '/api/limits', { 'x-api-key': stack.secrets[0] ?? '' })],
    }
    const targets = { bareUws, ...(await readTargets(stack)) }
    for (const name of values.only.split(',')) {
      const target = targets[name as keyof typeof targets]
      await measureReads(target, 1_000)
      const { label, perSecond, cpuMicros } = await measureReads(
        target,
        Number(values.seconds) * 1_000,
      )
      console.log(label, Math.round(perSecond), JSON.stringify(cpuMicros))
    }
  } finally {
    await bare.stop()
  }
} finally {
  await stack.stop()
}
