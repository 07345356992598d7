import { join } from 'node:path'
import { getAddress } from 'viem/utils'
import { type ChainAccess, connectChains } from '../../chains/access.js'
import { readChainsFile } from '../../config/chains.js'
import type { RouterPair } from '../../defi/router-reads.js'
import type { Address } from '../../domain/ids.js'
import { UsageError } from '../exit-codes.js'

/**
 * Runs a command over chains of the home's `chains.json`, one after the other.
 * @param wanted chain ids; undefined for all of the file
 * @throws UsageError for a chain that the file does not name
 */
export async function withChains<T>(
  home: string,
  wanted: readonly number[] | undefined,
  work: (chain: ChainAccess) => Promise<T>,
): Promise<T[]> {
  const { chains, close } = connectChains(readChainsFile(join(home, 'chains.json')).chains)
  try {
    const results: T[] = []
    for (const id of wanted ?? [...chains.keys()]) {
      const chain = chains.get(id)
      if (chain === undefined) throw new UsageError(`chains.json of ${home} names no chain ${id}`)
      results.push(await work(chain))
    }
    return results
  } finally {
    await close()
  }
}

/** Returns the configured Router; null without one. */
export function configuredRouter({ config }: ChainAccess): RouterPair | null {
  const { router, delegate } = config
  if (router === null || delegate === null) return null
  return { router: getAddress(router), delegate: getAddress(delegate) }
}

/** @throws UsageError */
export function addressOption(text: string): Address {
  try {
    return getAddress(text)
  } catch {
    throw new UsageError(`${text} is not an address`)
  }
}
