import { toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import type { ChainConfig } from '../../src/config/chains.js'
import devPriceFeed from '../../src/contracts/generated/dev-price-feed.json' with { type: 'json' }
import devSanctionsOracle from '../../src/contracts/generated/dev-sanctions-oracle.json' with {
  type: 'json',
}
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import devWrappedNative from '../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import type { Address, Hex } from '../../src/domain/ids.js'
import type { Anvil } from '../support/anvil.js'

/** More than any of these contracts uses for what does not depend on an account. */
const SLOTS = 16n
const ETHER = 10n ** 18n
const USD_FEED_DECIMALS = 10n ** 8n
/** Chainlink's sequencer feeds have been up for longer than the grace after an outage. */
const UP_SINCE_SECONDS = 7_200n

/**
 * Has a development node answer at the addresses of a real chain, as far as boot asserts and a send
 * needs: contracts of ours are deployed, and their code and storage put where the real ones are.
 */
export async function standInAt(anvil: Anvil, chain: ChainConfig): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey())
  const writer = openChainWriter(anvil.url, chain.id, account)
  const { client } = writer
  await client.setBalance({ address: account.address, value: 1_000n * ETHER })

  async function copy(from: Address, to: string): Promise<void> {
    const bytecode = await client.getCode({ address: from })
    if (bytecode === undefined) throw new Error('nothing was deployed')
    await client.setCode({ address: to as Address, bytecode })
    for (let slot = 0n; slot < SLOTS; slot++) {
      const index = toHex(slot, { size: 32 })
      const value = await client.getStorageAt({ address: from, slot: index })
      if (value === undefined || BigInt(value) === 0n) continue
      await client.setStorageAt({ address: to as Address, index, value })
    }
  }
  const feed = (description: string, answer: bigint) =>
    writer.deploy(
      devPriceFeed.bytecode as Hex,
      ['string', 'int256', 'address'],
      [description, answer, account.address],
    )

  const nativeFeed = await feed('ETH / USD', 3_000n * USD_FEED_DECIMALS)
  await copy(nativeFeed, chain.native_feed.address)
  const wrapped = await writer.deploy(
    devWrappedNative.bytecode as Hex,
    ['string', 'string'],
    ['Wrapped Ether', 'WETH'],
  )
  await copy(wrapped, chain.wrapped_native)
  const usdc = chain.tokens.find(({ symbol }) => symbol === 'USDC')
  if (usdc?.feed == null) throw new Error('no USDC')
  const stand = await writer.deploy(
    devUsdc.bytecode as Hex,
    ['string', 'string', 'uint8', 'address'],
    ['USD Coin', 'USDC', usdc.decimals, account.address],
  )
  await copy(stand, usdc.address)
  await copy(await feed('USDC / USD', USD_FEED_DECIMALS), usdc.feed.address)
  if (chain.sequencer_uptime_feed !== null) {
    const uptime = await feed('L2 Sequencer Uptime', 0n)
    const { timestamp } = await client.getBlock()
    await writer.write(uptime, devPriceFeed.abi, 'freezeAt', [timestamp - UP_SINCE_SECONDS])
    await copy(uptime, chain.sequencer_uptime_feed)
  }
  const oracle = chain.sanctions_oracle
  if (oracle == null) throw new Error('no oracle')
  const listed = await writer.deploy(
    devSanctionsOracle.bytecode as Hex,
    ['address'],
    [account.address],
  )
  await copy(listed, oracle.address)
  for (const address of Object.values(chain.swap ?? {})) {
    // Boot looks for code there; nothing is swapped without a Router.
    await client.setCode({ address: address as Address, bytecode: '0x00' })
  }
}
