import type { Chains } from '../chains/access.js'
import { FaultError, fault } from '../errors/fault.js'
import type { PriceSource } from '../pricing/price-source.js'
import { type ChainView, createChainView } from './chain-view.js'
import { createFunds } from './funds.js'
import { createFirstTransferChecks } from './moved-nothing.js'
import { createPlainQuoter } from './plain-quote.js'
import { movementOf, type PlainTransfer, plainTransferOf } from './plain-transfer.js'
import { unvalued } from './quote-parts.js'
import type { CallQuote, QuotedCall, Quoter } from './quoter.js'
import { createReceiptValuer, type ReceiptValuer } from './receipt-valuer.js'
import { createSimulatedQuoter, type KnownSpenders } from './simulated-quote.js'

interface CallQuoterOptions {
  /** Saves reading allowances for each simulated call; without it the chain is read. */
  readonly knownSpenders?: KnownSpenders
  /** Whether the configured Router of a chain was verified; without it no Router is trusted. */
  readonly hasRouter?: (chainId: number) => boolean
  /** Milliseconds of a monotonic clock; absent to use this process's. */
  readonly elapsed?: () => number
}

const NOT_SIMULATED =
  'no endpoint of this chain can simulate, so only plain transfers and calls of configured tokens can be valued'

/**
 * The quoter of every write. Plain transfers are valued from their calldata, at once while caches
 * are warm; every other call is simulated by a node.
 */
export function createCallQuoter(
  chains: Chains,
  prices: PriceSource,
  options: CallQuoterOptions = {},
): Quoter & ReceiptValuer {
  const funds = createFunds(options.elapsed)
  const plain = createPlainQuoter(prices, funds)
  const firstTransferChecks = createFirstTransferChecks(options.elapsed)
  const simulated = createSimulatedQuoter(prices, funds, options.knownSpenders ?? (() => null))
  const views = new Map<number, ChainView>()
  for (const [id, chain] of chains)
    views.set(id, createChainView(chain, options.hasRouter ?? (() => false)))

  async function findPlainTransfer({ chain }: ChainView, call: QuotedCall) {
    const transfer = plainTransferOf(chain, call)
    if (transfer !== 'unknown') return transfer
    await chain.reads.code(call.to)
    const known = plainTransferOf(chain, call)
    return known === 'unknown' ? null : known
  }

  function plainQuote(
    view: ChainView,
    call: QuotedCall,
    transfer: PlainTransfer,
  ): CallQuote | Promise<CallQuote> {
    const problemFound =
      transfer.kind === 'erc20' ? firstTransferChecks.before(view, call, transfer.token) : null
    if (problemFound === null) return plain.quote(view, call, transfer)
    return Promise.all([plain.quote(view, call, transfer), problemFound]).then(
      ([quote, problem]) => (quote.ok ? { ...quote, problem: quote.problem ?? problem } : quote),
    )
  }

  async function simulatedQuote(view: ChainView, call: QuotedCall): Promise<CallQuote> {
    return (await simulated(view, call)) ?? unvalued(call.chainId, NOT_SIMULATED)
  }

  /**
   * Values the transfer as a send of it would be; shows a node's simulation when a node can run it.
   */
  async function plainForecast(
    view: ChainView,
    call: QuotedCall,
    transfer: PlainTransfer,
  ): Promise<CallQuote> {
    const [quote, seen] = await Promise.all([
      plain.quote(view, call, transfer),
      simulated(view, call),
    ])
    if (!quote.ok) return quote
    if (seen?.ok && seen.basis.simulated) {
      const { maxFeeWei } = quote.basis
      const problem = quote.problem ?? seen.problem
      return { ...quote, problem, basis: { ...seen.basis, maxFeeWei } }
    }
    if (quote.problem !== null) return quote
    const worth = quote.unpriced ? null : quote.valuation.valueMicros
    const movements = [movementOf(call, transfer, worth)]
    return { ...quote, basis: { ...quote.basis, movements } }
  }

  async function forecastOf(view: ChainView, call: QuotedCall): Promise<CallQuote> {
    const transfer = await findPlainTransfer(view, call)
    return transfer === null ? simulatedQuote(view, call) : plainForecast(view, call, transfer)
  }

  return {
    ...createReceiptValuer(prices, views),
    quote(call) {
      const view = views.get(call.chainId)
      if (view === undefined) return { ok: false, fault: fault('CHAIN_NOT_SUPPORTED') }
      const transfer = plainTransferOf(view.chain, call)
      if (transfer === null) return refusing(simulatedQuote(view, call))
      if (transfer === 'unknown') {
        return refusing(
          findPlainTransfer(view, call).then((known) =>
            known === null ? simulatedQuote(view, call) : plainQuote(view, call, known),
          ),
        )
      }
      const quote = plainQuote(view, call, transfer)
      return quote instanceof Promise ? refusing(quote) : quote
    },
    forecast(call) {
      const view = views.get(call.chainId)
      if (view === undefined) {
        return Promise.resolve({ ok: false, fault: fault('CHAIN_NOT_SUPPORTED') })
      }
      return refusing(forecastOf(view, call))
    },
  }
}

function refusing(quote: Promise<CallQuote>): Promise<CallQuote> {
  return quote.catch((error: unknown) => {
    if (error instanceof FaultError) return { ok: false, fault: error.fault }
    const why = error instanceof Error ? error.message : 'the chain did not answer'
    return { ok: false, fault: fault('CHAIN_UNAVAILABLE', {}, undefined, why) }
  })
}
