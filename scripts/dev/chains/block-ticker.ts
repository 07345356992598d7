import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { rpc, rpcBatch } from './json-rpc.js'

/**
 * Mines a block every second, so that heads move and the chain's clock follows the wall's even
 * when nobody sends. Not anvil's own `--block-time`: that raises the number of states it keeps to
 * several hundred, which EIP-2935's history contract grows past a gigabyte within hours.
 */
export interface BlockTicker {
  stop(): Promise<void>
}

export const BLOCK_TIME_MS = 1_000

/**
 * @param baseFeeFloorWei empty blocks would let the base fee decay to a few wei within minutes,
 * and every estimate with it
 */
export function tickBlocks(rpcUrl: string, baseFeeFloorWei: bigint): BlockTicker {
  const stopping = new AbortController()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await delay(BLOCK_TIME_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      // A node that is being restarted ticks again later.
      if (!stopping.signal.aborted) await tick(rpcUrl, baseFeeFloorWei).catch(() => undefined)
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

const headShape = z.object({ baseFeePerGas: z.string() })

async function tick(rpcUrl: string, baseFeeFloorWei: bigint): Promise<void> {
  const head = headShape.parse(await rpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false]))
  const floor = `0x${baseFeeFloorWei.toString(16)}`
  const mine = { method: 'evm_mine' }
  // The head's fee is close enough: the next block's differs from it by an eighth at most.
  await rpcBatch(
    rpcUrl,
    BigInt(head.baseFeePerGas) <= baseFeeFloorWei
      ? [{ method: 'anvil_setNextBlockBaseFeePerGas', params: [floor] }, mine]
      : [mine],
  )
}
