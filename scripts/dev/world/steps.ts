import type { LocalAccount } from 'viem'
import devPriceFeed from '../../../src/contracts/generated/dev-price-feed.json' with {
  type: 'json',
}
import devSanctionsOracle from '../../../src/contracts/generated/dev-sanctions-oracle.json' with {
  type: 'json',
}
import devUsdc from '../../../src/contracts/generated/dev-usdc.json' with { type: 'json' }
import devWrappedNative from '../../../src/contracts/generated/dev-wrapped-native.json' with {
  type: 'json',
}
import type { Address } from '../../../src/domain/ids.js'
import type { ChainWriter } from '../../contracts/chain-writer.js'
import { deploySponsoredWorld, TOKEN_PRICE_USD8 } from '../../contracts/devnet-world.js'
import { configureRouter, deployRouter } from '../../contracts/router-setup.js'
import type { DevChain } from '../chains/dev-chains.js'
import type { World } from './world.js'

/** The inputs of a step. */
export interface StepContext {
  readonly chain: DevChain
  readonly rpcUrl: string
  readonly deployer: LocalAccount
  readonly writer: ChainWriter
}

/**
 * One step of building a world: runs while its field is absent, and reads the results of earlier
 * steps. To add one, add a field in `world.ts` and an entry here.
 */
export interface WorldStep {
  readonly field: Exclude<keyof World, 'format'>
  /** @returns the step's field */
  readonly build: (context: StepContext, world: World) => Promise<Omit<Partial<World>, 'format'>>
}

const USD8 = 100_000_000n

export const WORLD_STEPS: readonly WorldStep[] = [
  {
    field: 'tokens',
    async build({ chain, writer }) {
      const owner = writer.account.address
      const wrappedNative = await writer.deploy(
        devWrappedNative.bytecode,
        ['string', 'string'],
        [`Wrapped ${chain.nativeSymbol}`, chain.wrappedSymbol],
      )
      const usdc = await writer.deploy(
        devUsdc.bytecode,
        ['string', 'string', 'uint8', 'address'],
        ['USD Coin (development)', 'USDC', chain.usdcDecimals, owner],
      )
      return { tokens: { wrapped_native: wrappedNative, usdc } }
    },
  },
  {
    field: 'feeds',
    async build({ chain, writer }) {
      const nativePair = `${chain.nativeSymbol} / USD`
      const nativeUsd = await deployFeed(writer, nativePair, chain.nativePriceUsd8)
      const usdcUsd = await deployFeed(writer, 'USDC / USD', USD8)
      return { feeds: { native_usd: nativeUsd, usdc_usd: usdcUsd } }
    },
  },
  {
    field: 'sanctions_oracle',
    async build({ writer }) {
      const owner = writer.account.address
      return {
        sanctions_oracle: await writer.deploy(devSanctionsOracle.bytecode, ['address'], [owner]),
      }
    },
  },
  {
    field: 'venues',
    async build({ chain, rpcUrl, deployer, writer }, world) {
      if (!world.tokens) throw new Error('venues need tokens')
      const built = await deploySponsoredWorld({
        rpcUrl,
        chainId: chain.id,
        deployer,
        usdc: world.tokens.usdc,
        wrappedNative: world.tokens.wrapped_native,
        nativePriceUsd8: chain.nativePriceUsd8,
      })
      const { factory, router, quoter } = built.swap
      const feed = await deployFeed(writer, `${built.token.symbol} / USD`, TOKEN_PRICE_USD8)
      return {
        venues: {
          swap: { factory, router, quoter },
          second_token: { ...built.token, feed },
          vaults: [...built.vaults],
          multicall3: built.multicall3,
          allowed_calls: [...built.allowedCalls],
        },
      }
    },
  },
  {
    field: 'router',
    async build({ chain, writer }, world) {
      if (!chain.hasRouter) return { router: null }
      if (!world.venues) throw new Error('the Router needs venues')
      const deployed = await deployRouter(writer)
      // Co-signer and relayers are the service's keys, which are set once it has made them.
      await configureRouter(writer, deployed, {
        coSigners: null,
        relayers: [],
        feeRecipient: null,
        allowedCalls: world.venues.allowed_calls,
      })
      return { router: deployed }
    },
  },
]

function deployFeed(writer: ChainWriter, description: string, answer: bigint): Promise<Address> {
  return writer.deploy(
    devPriceFeed.bytecode,
    ['string', 'int256', 'address'],
    [description, answer, writer.account.address],
  )
}
