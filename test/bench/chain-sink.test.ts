import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, numberOf } from '../../bench/child-process.js'
import { createSinkBlocks } from '../../bench/sink/blocks.js'
import { SINK_CHAIN, sinkChainsFile } from '../../bench/sink-chains.js'
import { startChainSink } from '../../bench/sink-stack.js'
import { connectChains } from '../../src/chains/access.js'
import { verifyChain } from '../../src/chains/verify-chain.js'
import { createChainlinkPrices } from '../../src/pricing/chainlink.js'

const ACCOUNT = privateKeyToAccount(`0x${'11'.repeat(32)}`)

let sink: Child
let close: () => Promise<void>
let chain: NonNullable<ReturnType<ReturnType<typeof connectChains>['chains']['get']>>

beforeAll(async () => {
  sink = await startChainSink()
  const { chains: configs } = sinkChainsFile(`http://127.0.0.1:${numberOf(sink, 'port')}`)
  const connected = connectChains(configs)
  close = connected.close
  const found = connected.chains.get(SINK_CHAIN)
  if (found === undefined) throw new Error('the sink has no chain')
  chain = found
})

afterAll(async () => {
  await close()
  await sink.kill()
})

function signed(nonce: number) {
  return ACCOUNT.signTransaction({
    type: 'eip1559',
    chainId: SINK_CHAIN,
    nonce,
    to: '0x000000000000000000000000000000000000dEaD',
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 10_000_000n,
    maxPriorityFeePerGas: 1_000n,
  })
}

describe('the chain sink', () => {
  test('is a chain that the service would boot on, with fees and prices', async () => {
    expect(await verifyChain(chain.rpc, chain.config)).toEqual([])
    const quote = await chain.fees.quote()
    expect(quote.fees.maxFeePerGas).toBeGreaterThan(0n)
    const prices = createChainlinkPrices([{ chain: chain.config, rpc: chain.rpc }])
    await prices.warm()
    expect(prices.price(SINK_CHAIN, 'native')).toMatchObject({ value: 3_000_00000000n })
    prices.close()
  })

  test('mines what it takes, in blocks linked by their hashes, and counts nonces', async () => {
    const raws = await Promise.all([0, 1, 2].map(signed))
    for (const raw of raws) {
      expect(await chain.rpc.sendRawTransaction(raw)).toEqual({ kind: 'accepted' })
    }
    const hashes = raws.map((raw) => keccak256(raw))
    await expect
      .poll(async () => (await chain.reads.receipts(hashes)).every((it) => it !== null), {
        timeout: 20_000,
      })
      .toBe(true)
    const [receipt] = await chain.reads.receipts(hashes)
    const block = await chain.reads.block(receipt?.blockNumber ?? -1)
    expect(block?.hash).toBe(receipt?.blockHash)
    expect(block?.txHashes).toContain(hashes[0])
    const below = await chain.reads.block((block?.number ?? 0) - 1)
    expect(block?.parentHash).toBe(below?.hash)
    expect(await chain.reads.transactionCount(ACCOUNT.address, 'latest')).toBe(3)
  })

  test('has neither code nor history for strangers', async () => {
    const stranger = '0x1234567890123456789012345678901234567890'
    expect(await chain.reads.code(stranger)).toEqual({ kind: 'none' })
    expect(await chain.reads.transactionCount(stranger, 'latest')).toBe(0)
    expect(await chain.reads.receipts([`0x${'ab'.repeat(32)}`])).toEqual([null])
  })
})

test('keeps the blocks of a minute, with their transactions, and forgets those before', () => {
  const blocks = createSinkBlocks(SINK_CHAIN)
  const perBlock = Array.from({ length: 600 }, (_, i) => {
    const hash = blocks.accept(`0x02${i.toString(16).padStart(8, '0')}`)
    blocks.mine()
    return hash
  })
  const heights = perBlock.map((hash) => JSON.parse(blocks.receipt(hash))?.blockNumber ?? null)
  const newest = heights.slice(-256)
  expect(newest).toEqual(newest.map((_, i) => `0x${(345 + i).toString(16)}`))
  expect(heights.slice(0, 250)).toEqual(heights.slice(0, 250).map(() => null))
  const again = perBlock.at(-1) as string
  expect(blocks.accept(`0x02${(599).toString(16).padStart(8, '0')}`)).toBe(again)
  expect(blocks.accepted).toBe(600)
})
