import type { ChainAccess } from '../chains/access.js'
import { routerFee } from '../contracts/router-intent-type.js'
import { NATIVE_TOKEN } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import type { IntentTerms, PartyNamed } from '../domain/sponsored-terms.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'
import { SERVICE_FEE_BPS } from './fee.js'
import { type InputValue, valueOfInput } from './input-value.js'
import { lackOf, type Plan, type PlanPorts } from './plan.js'
import type { SwapOffer } from './swap-venue.js'
import { worthOfShares } from './vault-venue.js'

const BPS = 10_000n

export interface WantedSwap {
  readonly tokenIn: Address
  readonly tokenOut: Address
  /** Smallest units, fee included. */
  readonly amountIn: bigint
}

/** The best offer for what the fee leaves; null when no venue has one. */
export function offerFor(
  { swapVenue }: Pick<PlanPorts, 'swapVenue'>,
  chain: ChainAccess,
  { tokenIn, tokenOut, amountIn }: WantedSwap,
): Promise<SwapOffer | null> {
  const net = amountIn - routerFee(amountIn, SERVICE_FEE_BPS)
  return swapVenue.offer(chain, { tokenIn, tokenOut, amountIn: net })
}

/** The least output that `slippageBps` accepts; never 0, which the Router refuses. */
export function leastOutput(amountOut: bigint, slippageBps: number): bigint {
  const least = (amountOut * (BPS - BigInt(slippageBps))) / BPS
  return least > 0n ? least : 1n
}

export function noRoute(): Fault {
  return fault(
    'SIMULATION_REVERTED',
    { reason: 'no route' },
    'No pool swaps this amount between these tokens.',
  )
}

/**
 * @param minOutOf the least output the caller takes, given what is offered now
 * @returns refusals: `PRICE_UNAVAILABLE`
 */
export async function planSwap(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  wanted: WantedSwap,
  minOutOf: (amountOut: bigint) => bigint,
): Promise<Result<Plan>> {
  const { tokenIn, tokenOut, amountIn } = wanted
  const [value, offer, lack] = await Promise.all([
    valueOfSwapInput(ports, chain, account, tokenIn, amountIn),
    offerFor(ports, chain, wanted),
    lackOf(chain, tokenIn === NATIVE_TOKEN ? 'native' : tokenIn, account, amountIn),
  ])
  if (!value.ok) return value
  const parties: PartyNamed[] = [
    { address: tokenIn, path: 'token_in' },
    { address: tokenOut, path: 'token_out' },
    ...(offer?.tokens ?? []).map((address) => ({ address, path: 'route' })),
  ]
  const terms = termsOf(wanted, account, offer, lack, minOutOf)
  const offered = terms.ok ? (offer?.amountOut ?? 0n) : 0n
  return ok({ value: value.value, terms, offered, parties })
}

/** Shares of a configured vault are worth what they can be redeemed for, here as when they are sent. */
async function valueOfSwapInput(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  token: Address,
  amount: bigint,
): Promise<Result<InputValue>> {
  const value = await valueOfInput(ports, chain, token, amount)
  if (!value.ok || !value.value.unpriced) return value
  const isVault = chain.config.markets.some(({ vault }) => isSame(vault, token))
  const state = isVault ? await ports.vaultVenue.read(chain, token, account) : null
  if (state === null) return value
  return valueOfInput(ports, chain, state.asset, worthOfShares(state, amount))
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function termsOf(
  { tokenIn, tokenOut, amountIn }: WantedSwap,
  account: Address,
  offer: SwapOffer | null,
  lack: Fault | null,
  minOutOf: (amountOut: bigint) => bigint,
): Result<IntentTerms> {
  if (lack !== null) return refuse(lack)
  if (offer === null) return refuse(noRoute())
  const minOut = minOutOf(offer.amountOut)
  if (offer.amountOut < minOut) return refuse(fault('SLIPPAGE_EXCEEDED'))
  const { target, encode } = offer
  const data = encode(minOut, account)
  return ok({ tokenIn, amountIn, feeBps: SERVICE_FEE_BPS, tokenOut, minOut, target, data })
}
