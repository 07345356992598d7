import type { TimedHead } from '../clock/chain-time.js'
import type { ChainAccess } from './access.js'

/** Reads each chain's newest block and skips chains that do not answer with one. */
export async function noteNewestBlocks(
  chains: ReadonlyMap<number, { readonly rpc: Pick<ChainAccess['rpc'], 'request'> }>,
  note: (head: TimedHead) => void,
): Promise<void> {
  await Promise.all(
    [...chains].map(async ([chainId, { rpc }]) => {
      const block = await rpc
        .request<unknown>('eth_getBlockByNumber', ['latest', false])
        .catch(() => null)
      const head = headOf(block)
      if (head !== null) note({ chainId, ...head })
    }),
  )
}

function headOf(block: unknown): Omit<TimedHead, 'chainId'> | null {
  if (typeof block !== 'object' || block === null) return null
  const { hash, timestamp } = block as { readonly hash?: unknown; readonly timestamp?: unknown }
  if (typeof hash !== 'string' || typeof timestamp !== 'string') return null
  const timestampMs = Number(timestamp) * 1_000
  return Number.isSafeInteger(timestampMs) ? { hash, timestampMs } : null
}
