import { encodeFunctionData, getAbiItem, parseAbi, toFunctionSelector } from 'viem'
import { type CompiledContract, compileFolders } from '../../scripts/contracts/solidity-compiler.js'
import agentRouter from '../../src/contracts/generated/agent-router.json' with { type: 'json' }
import type { Address, Hex } from '../../src/domain/ids.js'
import type { SponsoredChain } from './sponsored-chain.js'

/** Tokens, vaults and venues that misbehave; compiled here, since nothing else may use them. */
export const hostileAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function arm(address target, bytes data)',
  'function succeeded() view returns (bool)',
  'function refusal() view returns (bytes4)',
])

export const venueAbi = parseAbi([
  'function trade(address tokenIn, uint256 taken, address tokenOut, uint256 given, address receiver)',
  'function takeTwice(address tokenIn, uint256 amount)',
  'function refund() payable',
  'function tradeAmid(address tokenIn, uint256 taken, address tokenOut, address receiver, address[] targets, bytes[] calls)',
  'function wentThrough() view returns (uint256)',
])

let compiled: readonly CompiledContract[] | null = null

export async function deployHostile(
  chain: SponsoredChain,
  name: string,
  ...constructorAddresses: readonly Address[]
): Promise<Address> {
  compiled ??= compileFolders(['test/contracts/solidity'])
  const contract = compiled.find((c) => c.name === name)
  if (contract === undefined) throw new Error(`no contract ${name}`)
  return chain.owner.deploy(
    contract.bytecode,
    constructorAddresses.map(() => 'address'),
    constructorAddresses,
  )
}

/** A venue all of whose functions the Router allows. */
export async function deployVenue(chain: SponsoredChain): Promise<Address> {
  const venue = await deployHostile(chain, 'Venue')
  await allow(
    chain,
    venue,
    venueAbi.map((one) => toFunctionSelector(one)),
  )
  return venue
}

export async function allow(chain: SponsoredChain, target: Address, selectors: readonly Hex[]) {
  await chain.owner.write(chain.router, agentRouter.abi, 'allowCalls', [
    selectors.map((selector) => ({ target, selector })),
  ])
}

export function encodeTrade(
  tokenIn: Address,
  taken: bigint,
  tokenOut: Address,
  given: bigint,
  receiver: Address,
): Hex {
  return encodeFunctionData({
    abi: venueAbi,
    functionName: 'trade',
    args: [tokenIn, taken, tokenOut, given, receiver],
  })
}

/** 4-byte selector of one of the Router's errors, as `refusal` reports it. */
export function routerError(name: 'ReentrancyGuardReentrantCall' | 'UnexpectedNative'): Hex {
  const item = getAbiItem({ abi: agentRouter.abi, name })
  return toFunctionSelector(`${item.name}()`)
}
