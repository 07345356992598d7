import type { Chains } from '../chains/access.js'
import { createHeadAges } from '../chains/head-ages.js'
import type { ChainHead } from '../chains/heads.js'
import { keepChainTime } from '../clock/chain-time.js'
import type { ChainlinkPrices } from '../pricing/chainlink.js'

/**
 * Keeps the newest block of each chain as the workers' watchers report it, and passes it on to fees
 * and prices.
 */
export function followHeads(
  chainTime: SharedArrayBuffer,
  chains: Chains,
  prices: Pick<ChainlinkPrices, 'onHead'>,
) {
  const newest = new Map<number, ChainHead>()
  const ages = createHeadAges()
  const keepTime = keepChainTime(chainTime)
  return {
    newest,
    ageOf: ages.of,
    numberOf: (chainId: number) => newest.get(chainId)?.number ?? null,
    onHead(head: ChainHead): void {
      newest.set(head.chainId, head)
      keepTime(head)
      ages.note(head)
      chains.get(head.chainId)?.fees.onHead(head)
      prices.onHead(head)
    },
  }
}
