import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import type { RpcClient } from '../../src/chains/rpc/types.js'
import { verifyChain } from '../../src/chains/verify-chain.js'
import type { ChainConfig } from '../../src/config/chains.js'
import devPriceFeed from '../../src/contracts/generated/dev-price-feed.json' with { type: 'json' }
import devToken from '../../src/contracts/generated/dev-token.json' with { type: 'json' }
import { FaultError } from '../../src/errors/fault.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { chainConfig } from '../support/chain-config.js'
import { DEPLOYER, deploy } from '../support/deploy.js'

let anvil: Anvil
let rpc: RpcClient
let good: ChainConfig

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  rpc = createRpcClient({ chainId: 8453, endpoints: [anvil.url] })
  const token = await deploy(anvil, {
    abi: devToken.abi,
    bytecode: devToken.bytecode,
    args: ['Wrapped', 'WETH', DEPLOYER],
  })
  const feed = await deploy(anvil, {
    abi: devPriceFeed.abi,
    bytecode: devPriceFeed.bytecode,
    args: ['ETH / USD', 1n, DEPLOYER],
  })
  const priced = { address: feed, max_age_seconds: 60 }
  good = chainConfig(8453, {
    wrapped_native: token,
    native_feed: priced,
    sequencer_uptime_feed: feed,
    tokens: [
      { address: token, symbol: 'WETH', decimals: 18, feed: priced, transfer_gas_limit: null },
    ],
  })
})
afterAll(async () => {
  await rpc.close()
  await anvil.stop()
})

test('a configuration the chain agrees with has no problems', async () => {
  expect(await verifyChain(rpc, good)).toEqual([])
})

test('each slip is named by its place', async () => {
  const [token] = good.tokens
  if (token === undefined) throw new Error('no token')
  const nowhere = '0x1111111111111111111111111111111111111111'
  const bad: ChainConfig = {
    ...good,
    router: nowhere,
    native_feed: { address: token.address, max_age_seconds: 60 },
    tokens: [{ ...token, decimals: 6, symbol: 'USDC' }],
    markets: [{ market_id: 'm', protocol: 'p', name: 'n', vault: token.address }],
  }
  const problems = await verifyChain(rpc, bad)
  expect(problems.map(({ path, problem }) => `${path}: ${problem}`)).toEqual([
    'native_feed: latestRoundData does not answer',
    'router: no contract at this address',
    'tokens[0].decimals: decimals are 18, not 6',
    'tokens[0].symbol: the symbol is "WETH", not "USDC"',
    'markets[0].vault: does not answer as it should',
  ])
})

test('an endpoint of another chain cannot be used at all', async () => {
  const wrong = createRpcClient({ chainId: 10, endpoints: [anvil.url] })
  await expect(verifyChain(wrong, chainConfig(10))).rejects.toBeInstanceOf(FaultError)
  await wrong.close()
})
