import { numberOf, startChild } from './child-process.js'
import { httpRequest } from './load/connection.js'
import { startPlainServer } from './plain.js'
import { openQuorum } from './quorum.js'
import { readTargets } from './reads.js'
import type { Bench } from './round.js'
import { startSinkStack } from './sink-stack.js'
import { measureWritePath } from './write-path.js'

const WARM_UP_MS = 1_500
const WARM_UP_CALLERS = 32

/**
 * Brings up all that a round drives, and warms it.
 * @throws Error of what did not start; nothing is left running
 */
export async function openBench(wallets: number): Promise<Bench & { close(): Promise<void> }> {
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of opened.toReversed()) await end()
  }
  try {
    const quorum = await openQuorum()
    opened.push(() => quorum.close())
    const bare = await startChild('dist/bench/bare-uws.js', {})
    opened.push(() => bare.kill())
    const plain = await startPlainServer(wallets)
    opened.push(() => plain.stop())
    const sink = await startSinkStack({ wallets })
    opened.push(() => sink.stop())
    const warmUp = { callers: WARM_UP_CALLERS, runMs: WARM_UP_MS }
    await measureWritePath(plain, warmUp)
    await measureWritePath(sink, warmUp)
    const bareUws = {
      label: 'bare uWebSockets.js',
      port: numberOf(bare, 'port'),
      pid: bare.pid,
      requests: [httpRequest('GET', '/api/limits', { 'x-api-key': sink.secrets[0] ?? '' })],
    }
    return { quorum, plain, sink, reads: { bareUws, ...(await readTargets(sink)) }, close }
  } catch (error) {
    await close()
    throw error
  }
}
