import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { rpc } from './json-rpc.js'

/**
 * Mines a block every second, so that heads move and the chain's clock follows the wall's even
 * when nobody sends. Not anvil's own `--block-time`: that raises the number of states it keeps to
 * several hundred, which EIP-2935's history contract grows past a gigabyte within hours.
 *
 * A chain whose automining was switched off (`evm_setAutomine`) is mined by somebody else, and left
 * to them: anvil loses blocks when one is mined while somebody takes others back.
 *
 * The base fee is left to decay to a few wei: raising it at a tick, between somebody's estimate
 * and their transaction, would strand transactions that no real chain strands.
 */
export interface BlockTicker {
  stop(): Promise<void>
}

export const BLOCK_TIME_MS = 1_000

const minedBlocks = z.tuple([z.object({ number: z.string() })])

/** @param onTick told the number of each block that a tick mined */
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
      // A node that is being restarted ticks again later.
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
