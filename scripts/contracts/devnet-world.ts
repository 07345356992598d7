import type { LocalAccount } from 'viem'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import devMulticall3 from '../../src/contracts/generated/dev-multicall3.json' with { type: 'json' }
import devToken from '../../src/contracts/generated/dev-token.json' with { type: 'json' }
import devUsdc from '../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import devVault from '../../src/contracts/generated/dev-vault.json' with { type: 'json' }
import devWrappedNative from '../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import { SWAP_SELECTORS, VAULT_SELECTORS } from '../../src/contracts/venue-calls.js'
import type { Address, Hex } from '../../src/domain/ids.js'
import { type ChainWriter, openChainWriter } from './chain-writer.js'
import { deployUniswap, fundPool, type Uniswap } from './uniswap.js'

/**
 * Everything that sponsored flows need on one development chain: Uniswap v3 with funded pools, a
 * second token, vaults with yield, Multicall3. Router and delegate come from `router-setup.ts`.
 */
export interface SponsoredWorldOptions {
  readonly rpcUrl: string
  readonly chainId: number
  /**
   * The account that pays for and owns everything; it must own `usdc` to mint it. Its balance is
   * set.
   */
  readonly deployer: LocalAccount
  readonly usdc: Address
  readonly wrappedNative: Address
  /** USD per whole native unit, scaled by 10^8 as the price feeds are. */
  readonly nativePriceUsd8: bigint
}

export interface SponsoredWorld {
  readonly swap: Uniswap
  /** 18 decimals, worth `TOKEN_PRICE_USD8`; paired only with the wrapped native token. */
  readonly token: { readonly address: Address; readonly symbol: string; readonly decimals: number }
  readonly vaults: readonly {
    readonly address: Address
    readonly name: string
    readonly asset: Address
  }[]
  readonly multicall3: Address
  /** The calls that a Router must allow for these venues. */
  readonly allowedCalls: readonly { readonly target: Address; readonly selector: Hex }[]
}

/** The address of Multicall3 on real chains. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** USD per whole second token, scaled by 10^8. */
export const TOKEN_PRICE_USD8 = 2_00000000n

/** Worth of each side of each pool: deep enough that a 10,000 USD swap moves it by 0.2 %. */
const POOL_SIDE_USD = 10_000_000n
/** First deposit in each vault, by the deployer. */
const VAULT_SEED_USD = 1_000_000n
/** Yield that each vault releases in a year: 5 % of its first deposit. */
const VAULT_YIELD_USD = 50_000n
const YEAR_SECONDS = 31_536_000n
const ETHER = 10n ** 18n

/** Builds the world on a chain that has none yet. */
export async function deploySponsoredWorld(
  options: SponsoredWorldOptions,
): Promise<SponsoredWorld> {
  const { usdc, wrappedNative, nativePriceUsd8 } = options
  const chain = openChainWriter(options.rpcUrl, options.chainId, options.deployer)
  const owner = chain.account.address
  const usdcDecimals = await chain.client.readContract({
    address: usdc,
    abi: erc20Abi,
    functionName: 'decimals',
  })
  const usdcFor = (usd: bigint) => usd * 10n ** BigInt(usdcDecimals)
  const nativeFor = (usd: bigint) => (usd * 10n ** 8n * ETHER) / nativePriceUsd8
  const tokenFor = (usd: bigint) => (usd * 10n ** 8n * ETHER) / TOKEN_PRICE_USD8

  const token = await chain.deploy(
    devToken.bytecode,
    ['string', 'string', 'address'],
    ['Countersign Dev Token', 'CSDT', owner],
  )
  const usdInUse = 3n * POOL_SIDE_USD + VAULT_SEED_USD + VAULT_YIELD_USD
  await chain.client.setBalance({ address: owner, value: nativeFor(usdInUse) + 1_000n * ETHER })
  await chain.write(wrappedNative, devWrappedNative.abi, 'deposit', [], nativeFor(usdInUse))
  await chain.write(usdc, devUsdc.abi, 'mint', [owner, usdcFor(usdInUse)])
  await chain.write(token, devToken.abi, 'mint', [owner, tokenFor(usdInUse)])

  const swap = await deployUniswap(chain, wrappedNative)
  const usdcSide = { token: usdc, amount: usdcFor(POOL_SIDE_USD) }
  const nativeSide = { token: wrappedNative, amount: nativeFor(POOL_SIDE_USD) }
  const tokenSide = { token, amount: tokenFor(POOL_SIDE_USD) }
  await fundPool(chain, swap, usdcSide, nativeSide, 500)
  await fundPool(chain, swap, usdcSide, nativeSide, 3000)
  await fundPool(chain, swap, tokenSide, nativeSide, 3000)

  const vaults = [
    await deployVault(chain, usdc, 'Countersign Dev USDC Vault', 'csUSDC', usdcFor),
    await deployVault(chain, wrappedNative, 'Countersign Dev Native Vault', 'csNATIVE', nativeFor),
  ]
  await deployMulticall3(chain)
  return {
    swap,
    token: { address: token, symbol: 'CSDT', decimals: 18 },
    vaults,
    multicall3: MULTICALL3,
    allowedCalls: [
      ...SWAP_SELECTORS.map((selector) => ({ target: swap.router, selector })),
      ...vaults.flatMap((v) => VAULT_SELECTORS.map((s) => ({ target: v.address, selector: s }))),
    ],
  }
}

async function deployVault(
  chain: ChainWriter,
  asset: Address,
  name: string,
  symbol: string,
  assetsFor: (usd: bigint) => bigint,
): Promise<{ address: Address; name: string; asset: Address }> {
  const address = await chain.deploy(
    devVault.bytecode,
    ['address', 'string', 'string'],
    [asset, name, symbol],
  )
  const seed = assetsFor(VAULT_SEED_USD)
  const yielded = assetsFor(VAULT_YIELD_USD)
  await chain.write(asset, erc20Abi, 'approve', [address, seed + yielded])
  await chain.write(address, devVault.abi, 'deposit', [seed, chain.account.address])
  await chain.write(address, devVault.abi, 'fund', [yielded, YEAR_SECONDS])
  return { address, name, asset }
}

/** Deploys it once for its runtime code, then puts that code at the usual address. */
async function deployMulticall3(chain: ChainWriter): Promise<void> {
  const deployed = await chain.deploy(devMulticall3.bytecode)
  const bytecode = await chain.client.getCode({ address: deployed })
  if (bytecode === undefined) throw new Error('Multicall3 has no code')
  await chain.client.setCode({ address: MULTICALL3, bytecode })
}
