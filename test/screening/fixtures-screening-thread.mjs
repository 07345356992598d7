/** A thread as an actor shard is: its own screener and its own pool, on the owner's lists. */
import { parentPort, workerData } from 'node:worker_threads'
import { attachLists } from '../../dist/src/screening/lists/shared-lists.js'
import { createScreener } from '../../dist/src/screening/local-screener.js'
import { WalkPool } from '../../dist/src/screening/walk-pool.js'

/** What it says is not to hang on what else the machine does. */
const WALK_MS_MAX = 30_000

const lists = attachLists(workerData.shared)
const screener = createScreener({ lists, walkPool: new WalkPool(undefined, WALK_MS_MAX) })

parentPort?.on('message', async (call) => {
  const answer = screener.screen(call)
  const verdict = await answer
  parentPort?.postMessage({ verdict, pooled: answer instanceof Promise })
})
