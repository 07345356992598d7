import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connectChains } from '../../chains/access.js'
import { noteNewestBlocks } from '../../chains/newest-blocks.js'
import { attachChainTime, createChainTimeBuffer, keepChainTime } from '../../clock/chain-time.js'
import { createServiceClock } from '../../clock/service-clock.js'
import { readChainsFile } from '../../config/chains.js'
import { UsageError } from '../exit-codes.js'

/**
 * Returns the machine's time once the newest blocks of the home's chains confirm it, as the service
 * does: old records are removed for good.
 * @returns milliseconds since the epoch
 * @throws UsageError when no node answers, or the clock differs from theirs
 */
export async function verifiedTime(home: string): Promise<number> {
  const file = join(home, 'chains.json')
  if (!existsSync(file)) throw new UsageError(`${file} names no chains ${HINT}`)
  const { chains, close } = connectChains(readChainsFile(file).chains)
  try {
    const buffer = createChainTimeBuffer()
    await noteNewestBlocks(chains, keepChainTime(buffer))
    const clock = createServiceClock({ chainTime: attachChainTime(buffer) })
    const nowMs = clock.verifiedNowMs()
    if (nowMs !== null) return nowMs
    const aheadMs = clock.aheadMs()
    throw new UsageError(
      aheadMs === null
        ? `No node in chains.json answered, ${HINT}`
        : `this machine's clock is ${seconds(aheadMs)} the newest blocks: set it right, then run this again`,
    )
  } finally {
    await close()
  }
}

const HINT = 'so the clock cannot be verified. Pass --trust-clock if you know that it is right.'

function seconds(aheadMs: number): string {
  const apart = Math.round(Math.abs(aheadMs) / 1_000)
  return `${apart} s ${aheadMs < 0 ? 'behind' : 'ahead of'}`
}
