import type { ChainAccess } from '../chains/access.js'
import { routerFee } from '../contracts/router-intent-type.js'
import { NATIVE_TOKEN } from '../domain/chains.js'
import type { Exchange, Hop, UnitWorth } from '../domain/exchange.js'
import type { Address } from '../domain/ids.js'
import type { IntentTerms, PartyNamed } from '../domain/sponsored-terms.js'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'
import {
  boundedLeast,
  exchangeOf,
  type OutputBounds,
  worthOfShareIn,
  worthOfShareOut,
} from './exchange-of.js'
import { SERVICE_FEE_BPS } from './fee.js'
import { type InputValue, valueOfInput, worthOfUnit } from './input-value.js'
import { lackOf, type Plan, type PlanPorts } from './plan.js'
import type { SwapOffer } from './swap-venue.js'
import { type VaultState, worthOfShares } from './vault-venue.js'

const BPS = 10_000n

export interface WantedSwap {
  readonly tokenIn: Address
  readonly tokenOut: Address
  /** In smallest units, fee included. */
  readonly amountIn: bigint
}

/** The best offer for the input after the fee; null when no venue has one. */
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

/** The caller's minimum and the key's bounds. */
interface LeastWanted extends OutputBounds {
  /** The caller's minimum, computed from the present offer. */
  readonly minOutOf: (amountOut: bigint) => bigint
}

/** @returns refusals: `PRICE_UNAVAILABLE` */
export async function planSwap(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  wanted: WantedSwap,
  least: LeastWanted,
): Promise<Result<Plan>> {
  const { tokenIn, tokenOut, amountIn } = wanted
  const [value, offer, lack] = await Promise.all([
    valueOfSwapInput(ports, chain, account, tokenIn, amountIn),
    offerFor(ports, chain, wanted),
    lackOf(chain, tokenIn === NATIVE_TOKEN ? 'native' : tokenIn, account, amountIn),
  ])
  if (!value.ok) return value
  const exchange = await swapExchange(ports, chain, account, wanted, offer)
  if (!exchange.ok) return exchange
  const parties: PartyNamed[] = [
    { address: tokenIn, path: 'token_in' },
    { address: tokenOut, path: 'token_out' },
    ...(offer?.tokens ?? []).map((address) => ({ address, path: 'route' })),
  ]
  const terms = termsOf(wanted, account, offer, lack, exchange.value, least)
  const offered = terms.ok ? (offer?.amountOut ?? 0n) : 0n
  return ok({ value: value.value, terms, offered, exchange: exchange.value, parties })
}

/**
 * Input and output at our prices. One unpriced token on the route makes the whole route unpriced:
 * the maker of such a token controls the assets that pass through its pools.
 * @returns refusals: `PRICE_UNAVAILABLE`
 */
export async function swapExchange(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  { tokenIn, tokenOut, amountIn }: WantedSwap,
  offer: SwapOffer | null,
): Promise<Result<Exchange | null>> {
  const between = offer?.tokens.slice(1, -1) ?? []
  const amountsBetween = offer?.amountsBetween ?? []
  const units = await Promise.all([
    unitPaid(ports, chain, account, tokenIn),
    unitReceived(ports, chain, account, tokenOut, offer?.amountOut ?? 0n),
    ...between.map((token) => worthOfUnit(ports, chain, token)),
  ])
  const found: (UnitWorth | null)[] = []
  for (const unit of units) {
    if (!unit.ok) return unit
    found.push(unit.value)
  }
  const [unitIn = null, unitOut = null, ...way] = found
  const netIn = amountIn - routerFee(amountIn, SERVICE_FEE_BPS)
  const whole = exchangeOf(netIn, unitIn, unitOut)
  if (whole === null || way.length === 0) return ok(way.includes(null) ? null : whole)
  const hops = hopsOf(
    [tokenIn, ...between, tokenOut],
    [netIn, ...amountsBetween, offer?.amountOut ?? 0n],
    [unitIn, ...way, unitOut],
  )
  return ok(hops === null ? null : { ...whole, hops })
}

/** Each list goes along the way. @returns null where a token on it has no price */
function hopsOf(
  tokens: readonly Address[],
  amounts: readonly bigint[],
  units: readonly (UnitWorth | null)[],
): Hop[] | null {
  const hops: Hop[] = []
  for (let at = 0; at + 1 < tokens.length; at++) {
    const [tokenIn, tokenOut] = tokens.slice(at, at + 2)
    const [netIn, amountOut] = amounts.slice(at, at + 2)
    const [unitIn = null, unitOut = null] = units.slice(at, at + 2)
    const exchange = netIn === undefined ? null : exchangeOf(netIn, unitIn, unitOut)
    if (exchange === null || amountOut === undefined) return null
    if (tokenIn === undefined || tokenOut === undefined) return null
    hops.push({ tokenIn, tokenOut, exchange, amountOut })
  }
  return hops
}

async function unitPaid(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  token: Address,
): Promise<Result<UnitWorth | null>> {
  const unit = await worthOfUnit(ports, chain, token)
  const state = unit.ok && unit.value === null ? await vaultOf(ports, chain, account, token) : null
  if (state === null) return unit
  const asset = await worthOfUnit(ports, chain, state.asset)
  return asset.ok ? ok(worthOfShareOut(asset.value, state)) : asset
}

async function unitReceived(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  token: Address,
  amountOut: bigint,
): Promise<Result<UnitWorth | null>> {
  const unit = await worthOfUnit(ports, chain, token)
  const state = unit.ok && unit.value === null ? await vaultOf(ports, chain, account, token) : null
  return state === null ? unit : worthOfShareIn(ports, chain, token, state, amountOut)
}

/** Null when no configured market has the token as its shares. */
async function vaultOf(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  token: Address,
): Promise<VaultState | null> {
  const isVault = chain.config.markets.some(({ vault }) => isSame(vault, token))
  return isVault ? ports.vaultVenue.read(chain, token, account) : null
}

/** Values the shares of a configured vault at what they can be redeemed for, as a send would. */
async function valueOfSwapInput(
  ports: PlanPorts,
  chain: ChainAccess,
  account: Address,
  token: Address,
  amount: bigint,
): Promise<Result<InputValue>> {
  const value = await valueOfInput(ports, chain, token, amount)
  if (!value.ok || !value.value.unpriced) return value
  const state = await vaultOf(ports, chain, account, token)
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
  exchange: Exchange | null,
  least: LeastWanted,
): Result<IntentTerms> {
  if (lack !== null) return refuse(lack)
  if (offer === null) return refuse(noRoute())
  const taken = least.minOutOf(offer.amountOut)
  if (offer.amountOut < taken) return refuse(fault('SLIPPAGE_EXCEEDED'))
  const minOut = boundedLeast(exchange, offer.amountOut, taken, least)
  const { target, encode } = offer
  const data = encode(minOut, account)
  return ok({ tokenIn, amountIn, feeBps: SERVICE_FEE_BPS, tokenOut, minOut, target, data })
}
