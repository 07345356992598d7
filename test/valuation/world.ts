import { setTimeout as sleep } from 'node:timers/promises'
import { type Abi, encodeFunctionData, getAddress, type PrivateKeyAccount, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type CompiledContract, compileFolders } from '../../scripts/contracts/solidity-compiler.js'
import { type Chains, connectChains } from '../../src/chains/access.js'
import type { ChainConfig } from '../../src/config/chains.js'
import devMulticall3 from '../../src/contracts/generated/dev-multicall3.json' with { type: 'json' }
import devPriceFeed from '../../src/contracts/generated/dev-price-feed.json' with { type: 'json' }
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import devWrappedNative from '../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import type { ChainId } from '../../src/domain/chains.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { type ChainlinkPrices, createChainlinkPrices } from '../../src/pricing/chainlink.js'
import { createCallQuoter } from '../../src/valuation/call-quoter.js'
import type { QuotedCall, Quoter } from '../../src/valuation/quoter.js'
import { MULTICALL3, PERMIT2 } from '../../src/valuation/well-known.js'
import { type Anvil, startAnvil } from '../support/anvil.js'
import { chainConfig } from '../support/chain-config.js'
import { DEPLOYER, deploy, transact } from '../support/deploy.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'

/** A chain with tokens of every kind, a thief, and the quoter under test in front of it. */
export interface World {
  readonly anvil: Anvil
  /** Between quoter and node. */
  readonly proxy: FaultProxy
  readonly chainId: number
  readonly config: ChainConfig
  readonly chains: Chains
  readonly prices: ChainlinkPrices
  readonly quoter: Quoter
  /** 6 decimals, 1 USD. */
  readonly usdc: Address
  /** 18 decimals, 2 USD; see KitchenToken.sol. */
  readonly kitchen: Address
  /** 6 decimals, 1 USD; see SilentToken.sol. */
  readonly silent: Address
  /** 18 decimals, as native: 3,000 USD. */
  readonly wrapped: Address
  /** A token like `kitchen` that no configuration knows. */
  readonly unknown: Address
  readonly collectible: Address
  readonly bundle: Address
  readonly thief: Address
  readonly friend: Address
  readonly feeds: { readonly dollar: Address; readonly native: Address }
  /** A new wallet with 10 native, 1,000 USDC, 500 KIT, 1,000 SIL, 1 wrapped, and items. */
  createWallet(): Promise<Wallet>
  stop(): Promise<void>
}

export interface Wallet {
  readonly account: PrivateKeyAccount
  readonly address: Address
  /** Of its collectible, and of ten items of its bundle. */
  readonly itemId: bigint
}

export const ETHER = 10n ** 18n
export const NATIVE_USD = 3_000n
const BALANCES = { usdc: 1_000_000_000n, kitchen: 500n * ETHER, silent: 1_000_000_000n }

export const kitchenAbi = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function increaseAllowance(address spender, uint256 added) returns (bool)',
  'function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)',
  'function approveAndCall(address spender, uint256 amount, bytes data)',
  'function transferAndCall(address to, uint256 amount, bytes data)',
  'function authorizeOperator(address operator)',
  'function burn(uint256 amount)',
  'function multicall(bytes[] calls)',
  'function setFeeBps(uint256 bps)',
  'function mint(address to, uint256 amount)',
])

export const thiefAbi = parseAbi([
  'function arm(bool on)',
  'function loot(address[] tokens, address permit2, address from)',
  'function pullAll(address token, address from)',
  'function pull(address token, address from, uint256 amount)',
  'function claimRewards(address token)',
  'function claimRewardsByPermit2(address permit2, address token, uint160 amount)',
  'function sip(address token, uint256 amount)',
  'function viaFriend(address friend, address token)',
  'function nothing()',
  'function forward(address to) payable',
  'function refundUnlessArmed() payable',
  'function execute(address target, bytes data) payable',
  'function multicall(bytes[] calls) payable',
  'function burnGas(uint256 rounds)',
  'function babble(address token, uint256 amount)',
  'function failUnlessArmed(address token)',
])

export const permit2Abi = parseAbi([
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  'function permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline) single, bytes signature)',
  'function transferFrom(address from, address to, uint160 amount, address token)',
  'function allowance(address owner, address token, address spender) view returns (uint160, uint48, uint48)',
])

export const itemsAbi = parseAbi([
  'function transferFrom(address from, address to, uint256 id)',
  'function safeTransferFrom(address from, address to, uint256 id)',
  'function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)',
  'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
  'function approve(address to, uint256 id)',
  'function setApprovalForAll(address operator, bool approved)',
])

const faucetAbi = parseAbi([
  'function fund(address wallet, address[] tokens, uint256[] amounts, address wrapped, address collectible, address bundle) payable',
])

export async function startWorld(chainId: ChainId = 137): Promise<World> {
  const compiled = compileFolders(['test/valuation/contracts'])
  const anvil = await startAnvil({ chainId })
  const proxy = await startFaultProxy({ upstream: anvil.url })
  const put = (name: string) => deploy(anvil, artifact(compiled, name))
  const feed = (dollars: bigint) =>
    deploy(anvil, {
      abi: devPriceFeed.abi,
      bytecode: devPriceFeed.bytecode,
      args: ['TOK / USD', dollars * 10n ** 8n, DEPLOYER],
    })
  const faucet = await put('Faucet')
  const usdc = await deploy(anvil, {
    abi: devUsdc.abi,
    bytecode: devUsdc.bytecode,
    args: ['USD Coin', 'USDC', 6, faucet],
  })
  const wrapped = await deploy(anvil, {
    abi: devWrappedNative.abi,
    bytecode: devWrappedNative.bytecode,
    args: ['Wrapped', 'WETH'],
  })
  const kitchen = await put('KitchenToken')
  const silent = await put('SilentToken')
  const unknown = await put('KitchenToken')
  const collectible = await put('Collectible')
  const bundle = await put('Bundle')
  const thief = await put('Thief')
  const friend = await put('Thief')
  await putAt(anvil, PERMIT2, await put('ModelPermit2'))
  const multicall = { abi: devMulticall3.abi, bytecode: devMulticall3.bytecode }
  await putAt(anvil, MULTICALL3, await deploy(anvil, multicall))
  const [native, dollar, two] = [await feed(NATIVE_USD), await feed(1n), await feed(2n)]
  const aged = (address: Address) => ({ address, max_age_seconds: 3_600 })
  const config = chainConfig(chainId, {
    rpc_urls: [proxy.url],
    wrapped_native: wrapped,
    native_feed: aged(native),
    router: '0x000000000000000000000000000000000000c0de',
    tokens: [
      {
        address: usdc,
        symbol: 'USDC',
        decimals: 6,
        feed: aged(dollar),
        transfer_gas_limit: 90_000,
      },
      {
        address: silent,
        symbol: 'SIL',
        decimals: 6,
        feed: aged(dollar),
        transfer_gas_limit: 90_000,
      },
      { address: kitchen, symbol: 'KIT', decimals: 18, feed: aged(two), transfer_gas_limit: null },
    ],
  })
  const { chains, close } = connectChains([config])
  const chain = chains.get(chainId)
  if (chain === undefined) throw new Error('no chain')
  // Stands still, so that a test that takes its time sees no reading age, and none asked for again.
  const readAtMs = Date.now()
  const prices = createChainlinkPrices([{ chain: config, rpc: chain.rpc, now: () => readAtMs }])
  await prices.warm()

  async function createWallet(): Promise<Wallet> {
    const account = privateKeyToAccount(generatePrivateKey())
    const { address } = account
    const data = encodeFunctionData({
      abi: faucetAbi,
      args: [
        address,
        [usdc, kitchen, silent, unknown],
        [BALANCES.usdc, BALANCES.kitchen, BALANCES.silent, 77n],
        wrapped,
        collectible,
        bundle,
      ],
    })
    const receipt = await transact(anvil, { to: faucet, data, value: `0x${ETHER.toString(16)}` })
    await anvil.rpc('anvil_setBalance', [address, `0x${(10n * ETHER).toString(16)}`])
    const logs = receipt.logs as readonly { data: string }[]
    return { account, address, itemId: BigInt(logs.at(-1)?.data ?? 0) }
  }

  return {
    ...{ anvil, proxy, chainId, config, chains, prices, usdc, kitchen, silent, wrapped, unknown },
    ...{ collectible, bundle, thief, friend, feeds: { dollar, native }, createWallet },
    quoter: createCallQuoter(chains, prices, { hasRouter: () => true }),
    async stop() {
      prices.close()
      await close()
      await proxy.close()
      await anvil.stop()
    },
  }
}

const RECEIPT_ATTEMPTS_MAX = 3_000

/** Signs with the wallet's key and the quote's own gas, as the service would, and waits. */
export async function execute(
  { anvil, chainId }: World,
  { account, address }: Wallet,
  call: Omit<QuotedCall, 'chainId' | 'from'>,
  gas: {
    readonly gasLimit: bigint
    readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  },
): Promise<ExecutedReceipt> {
  const nonce = Number(await anvil.rpc('eth_getTransactionCount', [address, 'latest']))
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to: call.to,
    value: call.value,
    data: call.data,
    gas: gas.gasLimit,
    ...gas.fees,
  })
  const hash = await anvil.rpc('eth_sendRawTransaction', [raw])
  for (let attempt = 0; attempt < RECEIPT_ATTEMPTS_MAX; attempt++) {
    const receipt = await anvil.rpc('eth_getTransactionReceipt', [hash])
    if (receipt !== null) return receipt as ExecutedReceipt
    await sleep(10)
  }
  throw new Error('not mined')
}

export interface ExecutedReceipt {
  readonly status: Hex
  readonly logs: readonly {
    readonly address: string
    readonly topics: readonly string[]
    readonly data: Hex
  }[]
}

function artifact(compiled: readonly CompiledContract[], name: string) {
  const found = compiled.find((contract) => contract.name === name)
  if (found === undefined) throw new Error(`no contract ${name}`)
  return { abi: found.abi as unknown as Abi, bytecode: found.bytecode }
}

async function putAt(anvil: Anvil, address: Address, from: Address): Promise<void> {
  await anvil.rpc('anvil_setCode', [address, await anvil.rpc('eth_getCode', [from, 'latest'])])
}

export const stranger = getAddress('0x00000000000000000000000000000000000abcde')
