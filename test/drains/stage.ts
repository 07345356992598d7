import { readFileSync, writeFileSync } from 'node:fs'
import { type Abi, decodeFunctionResult, encodeDeployData, getAddress } from 'viem'
import { type ChainWriter, openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { type CompiledContract, compileFolders } from '../../scripts/contracts/solidity-compiler.js'
import { fundPool } from '../../scripts/contracts/uniswap.js'
import { deployerAccount } from '../../scripts/dev/chains/deployer.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { type ChainConfig, type ChainsFile, readChainsFile } from '../../src/config/chains.js'
import { multicall3Abi } from '../../src/contracts/abis/multicall3.js'
import devPriceFeed from '../../src/contracts/generated/dev-price-feed.json' with { type: 'json' }
import devVault from '../../src/contracts/generated/dev-vault.json' with { type: 'json' }
import type { Address } from '../../src/domain/ids.js'
import { MULTICALL3, PERMIT2 } from '../../src/valuation/well-known.js'
import { newAddress } from '../e2e/chain.js'
import { type Stack, startStack } from '../e2e/stack.js'
import {
  approve,
  type Call,
  callTo,
  ETHER,
  encode,
  functionOf,
  type Question,
  transfer,
  USD,
} from './calls.js'

/** A running service, and on one of its chains all that money can be lent to, put into and stolen by. */
export interface Stage {
  readonly stack: Stack
  readonly chain: ChainWriter
  readonly at: Places
  readonly priced: readonly PricedToken[]
  /** Assets of 10^12 shares before the first case: yield that comes later hides no loss. */
  readonly sharePrices: ReadonlyMap<Address, bigint>
  deploy(name: string): Promise<Address>
  /** Asks a contract; one value of its answer. */
  ask<T>(to: Address, signature: string, args?: readonly unknown[]): Promise<T>
  close(): Promise<void>
}

interface PricedToken {
  readonly address: Address
  readonly decimals: number
  readonly dollars: bigint
}

type Fixture = (typeof FIXTURES)[number]
export type Places = Readonly<
  Record<
    | Fixture
    | 'usdc'
    | 'wrapped'
    | 'second'
    | 'feeToken'
    | 'scam'
    | 'positions'
    | 'swapRouter'
    | 'receipts'
    | 'market'
    | 'vault'
    | 'friend'
    | 'benefactor',
    Address
  >
>

const BASE = 8453
const NATIVE_USD = 3_000n
const SHARES = 10n ** 12n
const GAS_MAX = 10_000_000n
/** One case may keep blocks from coming while another deploys. */
const MINED_TIMEOUT_MS = 120_000
/** What the benefactor has to give, enough for a few hundred wallets. */
const STASH_USD = 5_000_000n
const POOL_SIDE_USD = 1_000_000n

/** Contracts without arguments. */
const FIXTURES = [
  'KitchenToken',
  'SilentToken',
  'SignedToken',
  'RebasingToken',
  'LyingToken',
  'Thief',
  'Collectible',
  'Bundle',
  'BookMarket',
  'Claims',
  'OrderBook',
] as const

export async function openStage(): Promise<Stage> {
  const compiled = compileFolders(['test/valuation/contracts', 'test/drains/contracts'])
  const stack = await startStack()
  try {
    return await furnish(stack, compiled)
  } catch (error) {
    await stack.service.stop()
    throw error
  }
}

async function furnish(stack: Stack, compiled: readonly CompiledContract[]): Promise<Stage> {
  const home = devHome({ COUNTERSIGN_HOME: stack.service.home })
  const config = readChainsFile(home.chainsFile).chains.find(({ id }) => id === BASE)
  if (config === undefined || config.swap === null) throw new Error('no chain')
  const chain = openChainWriter(config.rpc_urls[0] ?? '', BASE, deployerAccount(home))
  const { client } = chain

  async function deploy(name: string, args: readonly unknown[] = []): Promise<Address> {
    const contract = compiled.find((it) => it.name === name)
    if (contract === undefined) throw new Error(`no contract ${name}`)
    const abi = contract.abi as unknown as Abi
    const { bytecode } = contract
    const data = encodeDeployData({ abi, bytecode, args })
    // Of an account of its own: cases deploy at the same time.
    const account = getAddress(newAddress())
    await client.impersonateAccount({ address: account })
    await client.setBalance({ address: account, value: ETHER })
    const sent = { account, data, gas: GAS_MAX, timeout: MINED_TIMEOUT_MS }
    const { contractAddress } = await client.sendTransactionSync(sent)
    if (!contractAddress) throw new Error(`${name} was not deployed`)
    return contractAddress
  }
  async function ask<T>(to: Address, signature: string, args: readonly unknown[] = []) {
    const item = functionOf(signature)
    const { name } = item
    return (await client.readContract({ address: to, abi: [item], functionName: name, args })) as T
  }
  const write = ({ to, data, value }: Call) => chain.send({ to, data, value })

  const made = new Map<string, Address>()
  for (const name of FIXTURES) made.set(name, await deploy(name))
  const fixture = (name: Fixture) => made.get(name) ?? ''
  const usdc = tokenOf(config, 'USDC')
  const wrapped = config.wrapped_native as Address
  const second = tokenOf(config, 'CSDT')
  const kitchen = fixture('KitchenToken') as Address
  const feeToken = await deploy('KitchenToken')
  const scam = await deploy('KitchenToken')
  await write(callTo(feeToken, 'setFeeBps(uint256)', [1_000n]))
  for (const [address, name] of [
    [PERMIT2, 'SignedPermit2'],
    [MULTICALL3, 'FullMulticall3'],
  ] as const) {
    const bytecode = await client.getCode({ address: await deploy(name) })
    if (bytecode === undefined) throw new Error(`${name} has no code`)
    await client.setCode({ address, bytecode })
  }
  const swapRouter = config.swap.router as Address
  const positions = await ask<Address>(swapRouter, 'positionManager() view returns (address)')
  const receipts = await deploy('ReceiptMarket', [usdc])
  const market = config.markets[0]?.vault as Address
  const vault = await chain.deploy(
    devVault.bytecode,
    ['address', 'string', 'string'],
    [usdc, 'A vault that no configuration knows', 'vUSDC'],
  )
  const benefactor = await deploy('Benefactor', [
    {
      ...{ usdc, wrapped, kitchen, positions, receipts, market, vault },
      mintable: (['SilentToken', 'SignedToken', 'RebasingToken'] as const).map(fixture),
      book: fixture('BookMarket'),
      claims: fixture('Claims'),
    },
  ])

  const owner = chain.account.address
  const wrappedStash = (STASH_USD * ETHER) / NATIVE_USD
  await client.setBalance({ address: owner, value: 100_000n * ETHER })
  await write(callTo(wrapped, 'deposit()', [], wrappedStash))
  await write(transfer(wrapped, benefactor, wrappedStash))
  await write(callTo(usdc, 'mint(address,uint256)', [benefactor, STASH_USD * USD]))
  await write(callTo(usdc, 'mint(address,uint256)', [owner, 4n * POOL_SIDE_USD * USD]))
  const uniswap = {
    factory: config.swap.factory as Address,
    positionManager: positions,
    router: swapRouter,
    quoter: config.swap.quoter as Address,
  }
  const dollarSide = { token: usdc, amount: POOL_SIDE_USD * USD }
  for (const [token, fee] of [
    [kitchen, 3000],
    [kitchen, 10000],
    [scam, 10000],
  ] as const) {
    const amount = (POOL_SIDE_USD * ETHER) / 2n
    await write(callTo(token, 'mint(address,uint256)', [owner, amount]))
    await fundPool(chain, uniswap, dollarSide, { token, amount }, fee)
  }
  // The first deposit makes the price of a share.
  await write(approve(usdc, vault, POOL_SIDE_USD * USD))
  await write(callTo(vault, 'deposit(uint256,address)', [POOL_SIDE_USD * USD, owner]))
  await write(callTo(usdc, 'mint(address,uint256)', [receipts, POOL_SIDE_USD * USD]))

  const priced: PricedToken[] = [
    { address: usdc, decimals: 6, dollars: 1n },
    { address: wrapped, decimals: 18, dollars: NATIVE_USD },
    { address: kitchen, decimals: 18, dollars: 2n },
    { address: feeToken, decimals: 18, dollars: 2n },
    { address: second, decimals: 18, dollars: 2n },
    ...(['SilentToken', 'SignedToken', 'RebasingToken'] as const).map((name) => ({
      address: fixture(name) as Address,
      decimals: 6,
      dollars: 1n,
    })),
  ]
  const feeds = new Map<bigint, Address>()
  for (const dollars of [1n, 2n]) {
    feeds.set(
      dollars,
      await chain.deploy(
        devPriceFeed.bytecode,
        ['string', 'int256', 'address'],
        ['TOK / USD', dollars * 10n ** 8n, owner],
      ),
    )
  }
  const tokens = []
  for (const { address, decimals, dollars } of priced) {
    const feed = feeds.get(dollars)
    if (feed === undefined || config.tokens.some((it) => it.address === address)) continue
    const symbol = await ask<string>(address, 'symbol() view returns (string)')
    const max_age_seconds = 3_600
    tokens.push({
      ...{ address, symbol, decimals, feed: { address: feed, max_age_seconds } },
      transfer_gas_limit: null,
    })
  }
  addTokens(home.chainsFile, tokens)
  await stack.service.killAndAwaitRestart('service')

  const sharePrices = new Map<Address, bigint>()
  for (const it of [market, vault]) {
    const signature = 'convertToAssets(uint256) view returns (uint256)'
    sharePrices.set(it, await ask<bigint>(it, signature, [SHARES]))
  }
  const at = {
    ...(Object.fromEntries(made) as Record<Fixture, Address>),
    ...{ usdc, wrapped, second, feeToken, scam, positions, swapRouter, receipts, market, vault },
    friend: await deploy('Thief'),
    benefactor,
  }
  return {
    ...{ stack, chain, at, priced, sharePrices, deploy, ask },
    close: () => stack.service.stop(),
  }
}

export const SHARES_PRICED = SHARES

/** All in one request, as of one block. @returns null for what reverts */
export async function askAll(
  { chain }: Stage,
  questions: readonly Question[],
): Promise<readonly unknown[]> {
  const calls = questions.map(({ to, signature, args }) => [to, true, encode(signature, args)])
  const { data } = await chain.client.call(
    callTo(MULTICALL3, 'aggregate3((address,bool,bytes)[])', [calls]),
  )
  const answers = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    data: data ?? '0x',
  })
  return answers.map(({ success, returnData }, i) => {
    const signature = questions[i]?.signature
    if (!success || returnData === '0x' || signature === undefined) return null
    return decodeFunctionResult({ abi: [functionOf(signature)], data: returnData })
  })
}

function tokenOf({ tokens }: ChainConfig, symbol: string): Address {
  const token = tokens.find((it) => it.symbol === symbol)
  if (token === undefined) throw new Error(`no ${symbol}`)
  return token.address as Address
}

/** An operator's edit: it counts from the service's next start. */
function addTokens(path: string, tokens: ChainConfig['tokens']): void {
  const file = JSON.parse(readFileSync(path, 'utf8')) as ChainsFile
  const chains = file.chains.map((chain) =>
    chain.id === BASE ? { ...chain, tokens: [...chain.tokens, ...tokens] } : chain,
  )
  writeFileSync(path, JSON.stringify({ ...file, chains }))
}
