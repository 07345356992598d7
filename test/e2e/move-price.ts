import { encodeFunctionData, parseAbi } from 'viem'
import { devHome } from '../../scripts/dev/home/layout.js'
import { readChainsFile } from '../../src/config/chains.js'
import { chainView } from './chain.js'
import type { Stack } from './stack.js'

const FEED = parseAbi(['function setAnswer(int256 answer)'])
const SELECTORS = { owner: '0x8da5cb5b', latestAnswer: '0xfeaf968c' } as const
/** As many as the service lets pass before it reads its feeds again. */
const BLOCKS = '0x14'

/** What a chain's feeds said before a test moved them, by its id. */
const before = new Map<number, bigint>()

/**
 * Moves the answer of the feed of a chain's native token, on the chain.
 * @param percent of what it was at first
 */
export async function moveNativePrice(
  { service }: Stack,
  chainId: number,
  percent: bigint,
): Promise<void> {
  const { chainsFile } = devHome({ COUNTERSIGN_HOME: service.home })
  const chain = readChainsFile(chainsFile).chains.find(({ id }) => id === chainId)
  if (chain === undefined) throw new Error(`no chain ${chainId}`)
  const to = chain.native_feed.address
  const { call } = chainView(service.dev(), chainId)
  const ask = async (data: string) => String(await call('eth_call', [{ to, data }, 'latest']))
  const owner = `0x${(await ask(SELECTORS.owner)).slice(-40)}`
  const answer =
    before.get(chainId) ?? BigInt(`0x${(await ask(SELECTORS.latestAnswer)).slice(66, 130)}`)
  before.set(chainId, answer)
  const data = encodeFunctionData({ abi: FEED, args: [(answer * percent) / 100n] })
  await call('anvil_impersonateAccount', [owner])
  await call('eth_sendTransaction', [{ from: owner, to, data }])
  await call('anvil_mine', [BLOCKS])
}
