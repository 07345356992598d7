import { startChild } from './child-process.js'
import { startPlainServer } from './plain.js'
import { openQuorum } from './quorum.js'
import { bareUwsTarget, measureReads, readTargets } from './reads.js'
import type { Bench } from './round.js'
import { startSinkStack } from './sink-stack.js'
import { measureWritePath } from './write-path.js'

/**
 * As many as the largest load has, because the number of sends determines how far the code is
 * compiled.
 */
const WARM_UP_CALLERS = 128

/** How long each part is driven before anything counts. */
export interface WarmUpTimes {
  readonly quorumMs: number
  readonly writeMs: number
  readonly readMs: number
}

/**
 * Starts everything that a round drives, and warms each part until its code is compiled: in their
 * first seconds the service's sends cost half as much again, and so do the two keys'.
 * @throws Error if something does not start; nothing is left running
 */
export async function openBench(
  wallets: number,
  warmUp: WarmUpTimes,
): Promise<Bench & { close(): Promise<void> }> {
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of opened.toReversed()) await end()
  }
  try {
    const quorum = await openQuorum(warmUp.quorumMs)
    opened.push(() => quorum.close())
    const bare = await startChild('dist/bench/bare-uws.js', {})
    opened.push(() => bare.kill())
    const plain = await startPlainServer(wallets)
    opened.push(() => plain.stop())
    const sink = await startSinkStack({ wallets })
    opened.push(() => sink.stop())
    const writes = { callers: WARM_UP_CALLERS, runMs: warmUp.writeMs }
    await measureWritePath(plain, writes)
    await measureWritePath(sink, writes)
    const reads = { bareUws: bareUwsTarget(bare, sink), ...(await readTargets(sink)) }
    for (const target of Object.values(reads)) await measureReads(target, warmUp.readMs)
    return { quorum, plain, sink, reads, close }
  } catch (error) {
    await close()
    throw error
  }
}
