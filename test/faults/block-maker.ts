import { setTimeout as delay } from 'node:timers/promises'

/**
 * The only one who mines a chain and takes its blocks back, one change at a time: anvil keeps a
 * block that is mined within a reorg at its former height, and loses those that lay below it.
 * For a node that does not mine by itself.
 */
export interface BlockMaker {
  mine(blocks?: number): Promise<void>
  /**
   * Takes that many blocks back and puts as many empty ones in their place.
   * @throws Error when the chain lacks a block afterwards: then somebody else mined meanwhile
   */
  reorg(depth: number): Promise<void>
  /** Mines again and again until `stop`; at each turn only where it is due. */
  start(everyMs: number, due?: () => Promise<boolean>): void
  stop(): Promise<void>
}

type Call = (method: string, params: readonly unknown[]) => Promise<unknown>

/** Further back than any reorg of these tests. */
const LOOKED_AT_BLOCKS = 12

/** @param name for its sentences */
export function createBlockMaker(name: string, call: Call): BlockMaker {
  let lastChange: Promise<unknown> = Promise.resolve()
  let making: { stopped: boolean; done: Promise<void> } | null = null

  function change<Result>(make: () => Promise<Result>): Promise<Result> {
    const next = lastChange.then(make)
    lastChange = next.catch(() => undefined)
    return next
  }

  async function mineOne(): Promise<void> {
    await call('evm_mine', [])
  }

  return {
    async mine(blocks = 1) {
      for (let i = 0; i < blocks; i++) await change(mineOne)
    },
    reorg(depth) {
      return change(async () => {
        await call('anvil_reorg', [depth, []])
        await checkWhole(name, call)
      })
    },
    start(everyMs, due = async () => true) {
      if (making !== null) return
      const run = { stopped: false, done: Promise.resolve() }
      run.done = (async () => {
        while (!run.stopped) {
          // A node that does not answer is asked again at the next turn.
          if (await due().catch(() => false)) await change(mineOne).catch(() => undefined)
          await delay(everyMs)
        }
      })()
      making = run
    },
    async stop() {
      if (making === null) return
      making.stopped = true
      await making.done
      making = null
    },
  }
}

/** @throws Error unless each of the latest blocks is there and follows the one before */
export async function checkWhole(name: string, call: Call): Promise<void> {
  const head = Number(await call('eth_blockNumber', []))
  let parent: string | null = null
  for (let number = Math.max(0, head - LOOKED_AT_BLOCKS); number <= head; number++) {
    const block = (await call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as {
      readonly hash: string
      readonly parentHash: string
    } | null
    if (block === null || (parent !== null && block.parentHash !== parent)) {
      throw new Error(`${name}: block ${number} was lost in a reorg; somebody mined meanwhile`)
    }
    parent = block.hash
  }
}
