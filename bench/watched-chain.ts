import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { FromNode, NodeCounts, ToNode } from './watched-node.js'

/** The stub node of one chain; see `watched-node.ts`. */
export interface WatchedChain {
  readonly url: string
  /** Mines one more block with these transactions. */
  mine(hashes: readonly string[]): void
  counts(): Promise<NodeCounts>
  stop(): Promise<void>
}

export async function startWatchedChain(chainId: number): Promise<WatchedChain> {
  const child = fork('dist/bench/watched-node.js', [`${chainId}`], { execArgv: [] })
  const next = async (): Promise<FromNode> => (await once(child, 'message'))[0] as FromNode
  const tell = (message: ToNode) => child.send(message)
  const ready = await next()
  if (ready.type !== 'ready') throw new Error('the stub node did not start')
  return {
    url: `http://127.0.0.1:${ready.port}`,
    mine: (hashes) => void tell({ type: 'mine', hashes }),
    async counts() {
      const answer = next()
      tell({ type: 'count' })
      const counted = await answer
      if (counted.type !== 'counted') throw new Error('the stub node did not count')
      return counted.counts
    },
    async stop() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
