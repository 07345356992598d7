import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { rpc } from './json-rpc.js'

/**
 * Mines a block every second, so that heads move and the chain's clock follows the wall clock even
 * without transactions. It does not use anvil's own `--block-time`, which raises the number of kept
 * states to several hundred: EIP-2935's history contract makes those exceed a gigabyte in hours.
 *
 * When automining was switched off (`evm_setAutomine`), another program mines, and this one does
 * not: anvil loses blocks when one is mined while another is being reverted.
 *
 * The base fee may decay to a few wei: raising it at a tick, between an estimate and its
 * transaction, would strand transactions that no real chain strands.
 */
export interface BlockTicker {
  stop(): Promise<void>
}

export const BLOCK_TIME_MS = 1_000

const minedBlocks = z.tuple([z.object({ number: z.string() })])

/** @param onTick called with the number of each block that a tick mined */
export function tickBlocks(rpcUrl: string, onTick: (blockNumber: number) => void): BlockTicker {
  const stopping = new AbortController()

  async function tick(): Promise<void> {
    if ((await rpc(rpcUrl, 'anvil_getAutomine')) === false) return
    const [block] = minedBlocks.parse(await rpc(rpcUrl, 'evm_mine_detailed'))
    onTick(Number(block.number))
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await delay(BLOCK_TIME_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      // After a restart of the node the ticks continue.
      if (!stopping.signal.aborted) await tick().catch(() => undefined)
    }
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}
