import { getAddress } from 'viem/utils'
import { type GasLimit, gasCapOf } from '../chains/gas.js'
import type { Simulation } from '../chains/simulate/simulation.js'
import { chainFacts } from '../domain/chains.js'
import { spendOf } from '../domain/exposure.js'
import { type Address, ZERO_ADDRESS } from '../domain/ids.js'
import { worstCaseFeeWei } from '../domain/transaction-fee.js'
import { type Fault, fault } from '../errors/fault.js'
import { insufficientFunds } from '../errors/insufficient-funds.js'
import type { PriceSource } from '../pricing/price-source.js'
import { allPrices, type ChainView, type VaultShares } from './chain-view.js'
import { createFeesOnTop } from './fees-on-top.js'
import { type Funds, lackOfNative } from './funds.js'
import { type HeldToken, type Holdings, readHoldings } from './holdings.js'
import { movedNothing } from './moved-nothing.js'
import { outflowOf } from './outflow.js'
import { problemOfGas } from './plain-quote.js'
import { PriceBook } from './price-book.js'
import { completeQuote, ENVELOPE_BYTES, unvalued } from './quote-parts.js'
import type { CallQuote, QuotedCall } from './quoter.js'
import { residualAllowancesAfter } from './residual-allowances.js'
import { type Run, runAfterUnmined } from './run-after-unmined.js'
import { predictedFromLogs, spendFromLogs } from './spend-from-logs.js'
import { readStatically, type StaticReading } from './static-reading.js'
import { PERMIT2 } from './well-known.js'

/**
 * Values a call by simulating it on a node, and by what its calldata and its spenders permit in
 * addition.
 */
type SimulatedQuoter = (view: ChainView, call: QuotedCall) => Promise<CallQuote | null>

/**
 * Every spender that a wallet ever gave an allowance on a chain, lower-case; null when that is not
 * known for certain. All of a wallet's allowances are given through this service, so its own ledger
 * can tell.
 */
export type KnownSpenders = (chainId: number, wallet: Address) => ReadonlySet<string> | null

/**
 * The reported gas is after refunds, which are at most a fifth (EIP-3529), and storage changes
 * until the call is mined: 1.25 × 1.3.
 */
const GAS_NUMERATOR = 13n
const GAS_DENOMINATOR = 8n
const NO_HOLDINGS: Holdings = {
  balances: new Map(),
  supplies: new Map(),
  standing: new Map(),
  assetsPerShare: new Map(),
}

/**
 * @returns a quoter that answers null when no node can simulate the call and its calldata does not
 * suffice
 */
export function createSimulatedQuoter(
  source: PriceSource,
  funds: Funds,
  knownSpenders: KnownSpenders,
): SimulatedQuoter {
  const feesOnTop = createFeesOnTop()
  return async (view, given) => {
    const { chain } = view
    // Movements are matched by checksummed address; a caller's spelling must not hide one.
    const call = { ...given, from: getAddress(given.from), to: getAddress(given.to) }
    // A simulation does not count L1 data as gas.
    const estimates = chainFacts(chain.config.id).feeModel === 'arbitrum'
    const [fees, sideFee, run, estimate, prices, senderCode, vaults] = await Promise.all([
      chain.fees.quote(),
      chain.gas.sideFee(ENVELOPE_BYTES + call.data.length / 2),
      runAfterUnmined(chain, call),
      estimates ? chain.gas.gasLimitFor(call) : null,
      allPrices(source, view),
      chain.reads.cachedCode(call.from) ?? chain.reads.code(call.from),
      view.vaults(),
    ])
    const reading = readStatically(call, view.isConfigured)
    const { simulation, after } = run
    if (simulation === null && !reading.complete) return run.refusal
    if (simulation?.truncated === true) {
      return unvalued(call.chainId, 'the call moves more than can be listed')
    }
    const gas =
      estimate ?? gasOf(simulation, gasCapOf(chain.config)) ?? (await chain.gas.gasLimitFor(call))
    const gasLimit = gas.ok ? gas.gas : 0n
    const maxFeeWei = worstCaseFeeWei(gasLimit, fees.fees.maxFeePerGas, sideFee)
    const lack = () => lackOfNative(funds, chain, call, fees.fees.maxFeePerGas)
    const problem =
      (await problemOf(simulation, lack)) ??
      (await movedNothing(view, call, simulation)) ??
      (gas.ok ? null : await problemOfGas(gas, lack))
    const [holdings, shortfall] = await Promise.all([
      holdingsFor(view, vaults, call, reading, run, knownSpenders),
      problem === null ? funds.shortfall(chain, call.from, null, call.value + maxFeeWei) : null,
    ])
    const [pullTakesBps, residualAllowanceOf] = await Promise.all([
      feesOnTop(chain, call.from, run.state, approvedTokens(run, reading, holdings)),
      residualAllowancesAfter(chain, call, simulation, run.state, gasLimit),
    ])
    const book = new PriceBook(withShares(view.priced, vaults, holdings), prices)
    const { isOurs } = view
    const open = residualAllowanceOf === undefined ? {} : { residualAllowanceOf }
    const seen = { call, reading, simulation, holdings, pullTakesBps, ...open }
    const outflow = outflowOf({ ...seen, isOurs, prices: book })
    const { exposure, unpriced, movements, approvals, recipients, others } = outflow
    const shownMicros = spendFromLogs(view, call, simulation, holdings.supplies, book)
    const { valueMicros } = spendOf(exposure, null, true)
    return completeQuote(call, book, {
      fees,
      gasLimit,
      maxFeeWei,
      valueMicros,
      exposure,
      unpriced,
      problem: problem ?? (shortfall === null ? null : insufficientFunds(shortfall)),
      senderCode,
      basis: {
        simulated: simulation !== null,
        after,
        prices: book.used,
        movements,
        approvals,
        recipients,
        gasUsed: simulation?.gasUsed ?? null,
        predictedMicros: predictedFromLogs(shownMicros, others),
      },
    })
  }
}

function* approvedTokens(
  { simulation }: Run,
  reading: StaticReading,
  { standing }: Holdings,
): Iterable<string> {
  yield* standing.keys()
  for (const { token } of reading.approvals) yield token.toLowerCase()
  for (const { token } of simulation?.approvals ?? []) yield token.toLowerCase()
}

function gasOf(simulation: Simulation | null, cap: bigint): GasLimit | null {
  if (simulation === null) return null
  const gas = (simulation.gasUsed * GAS_NUMERATOR) / GAS_DENOMINATOR
  return { ok: true, gas: gas < cap ? gas : cap }
}

function problemOf(
  simulation: Simulation | null,
  lack: () => Promise<Fault>,
): Fault | null | Promise<Fault> {
  if (simulation === null || simulation.success) return null
  return simulation.failure === 'insufficient-funds'
    ? lack()
    : fault('SIMULATION_REVERTED', { reason: simulation.revertReason ?? 'reverted' })
}

function holdingsFor(
  view: ChainView,
  vaults: ReadonlyMap<string, VaultShares>,
  call: QuotedCall,
  reading: StaticReading,
  { simulation, state }: Run,
  knownSpenders: KnownSpenders,
): Holdings | Promise<Holdings> {
  const { chain, priced } = view
  const spenders = spendersOf(view, call, reading, simulation, knownSpenders)
  const anyToken = spenders.length > 0 || reading.claims.some(({ token }) => token === null)
  const named = new Set<string>()
  for (const { token } of [...(simulation?.approvals ?? []), ...reading.approvals]) {
    named.add(token.toLowerCase())
  }
  for (const { token } of reading.claims) if (token !== null) named.add(token.toLowerCase())
  const tokens: HeldToken[] = []
  for (const [key, { address, decimals }] of priced) {
    if (anyToken || named.has(key)) tokens.push({ address, decimals, isVault: false })
  }
  // A share's price is read together with its supply, also for shares that only move.
  for (const { token } of reading.outflows) named.add(token.toLowerCase())
  for (const { token } of simulation?.transfers ?? []) {
    if (token !== null) named.add(token.toLowerCase())
  }
  for (const [key, { address, decimals }] of vaults) {
    if (priced.has(key)) continue
    if (anyToken || named.has(key)) tokens.push({ address, decimals, isVault: true })
  }
  if (tokens.length === 0) return NO_HOLDINGS
  return readHoldings(chain, call.from, tokens, spenders, state)
}

/** Priced tokens, and the shares of vaults that this call involves. */
export function withShares(
  priced: ChainView['priced'],
  vaults: ReadonlyMap<string, VaultShares>,
  { assetsPerShare }: Holdings,
): ChainView['priced'] {
  if (assetsPerShare.size === 0) return priced
  const all = new Map(priced)
  for (const [key, assets] of assetsPerShare) {
    const vault = vaults.get(key)
    if (vault === undefined) continue
    const { address, decimals, asset } = vault
    all.set(key, { address, decimals, share: { asset, assetsPerShare: assets } })
  }
  return all
}

/** Contracts that the call reaches and that could take tokens by an existing allowance. */
function spendersOf(
  { chain, isConfigured, isOurs }: ChainView,
  call: QuotedCall,
  reading: StaticReading,
  simulation: Simulation | null,
  knownSpenders: KnownSpenders,
): readonly Address[] {
  // A configured token that does what its calldata says calls no other contract.
  if (reading.complete || simulation === null || !simulation.success) return []
  const known = knownSpenders(chain.config.id, call.from)
  const spenders = new Set<Address>()
  for (const address of [call.to, ...simulation.touched]) {
    const key = address.toLowerCase()
    if (address === call.from || address === ZERO_ADDRESS || address === PERMIT2) continue
    if (isOurs(address) || isConfigured(key)) continue
    if (known === null || known.has(key)) spenders.add(address)
  }
  return [...spenders]
}
