import type { Chains } from '../chains/access.js'
import { FaultError, fault } from '../errors/fault.js'
import type { PriceSource } from '../pricing/price-source.js'
import { type ChainView, createChainView } from './chain-view.js'
import { createFunds } from './funds.js'
import { createPlainQuoter } from './plain-quote.js'
import { plainTransferOf } from './plain-transfer.js'
import { unvalued } from './quote-parts.js'
import type { CallQuote, QuotedCall, Quoter } from './quoter.js'
import { createSimulatedQuoter, type KnownSpenders } from './simulated-quote.js'

export interface CallQuoterOptions {
  /** Saves a read of allowances per simulated call; without it the chain is asked. */
  readonly knownSpenders?: KnownSpenders
}

/**
 * The quoter of every write. Plain transfers are valued from their words, at once while caches
 * are warm; everything else by running it on a node.
 */
export function createCallQuoter(
  chains: Chains,
  prices: PriceSource,
  options: CallQuoterOptions = {},
): Quoter {
  const funds = createFunds()
  const plain = createPlainQuoter(prices, funds)
  const simulated = createSimulatedQuoter(prices, funds, options.knownSpenders ?? (() => null))
  const views = new Map<number, ChainView>()
  for (const [id, chain] of chains) views.set(id, createChainView(chain))

  /** A plain transfer if it is one, with the recipient's code looked up. */
  async function plainQuote(view: ChainView, call: QuotedCall): Promise<CallQuote | null> {
    let transfer = plainTransferOf(view.chain, call)
    if (transfer === 'unknown') {
      await view.chain.reads.code(call.to)
      transfer = plainTransferOf(view.chain, call)
    }
    return transfer === null || transfer === 'unknown' ? null : plain.quote(view, call, transfer)
  }

  async function simulatedQuote(view: ChainView, call: QuotedCall): Promise<CallQuote> {
    return (
      (await simulated(view, call)) ??
      (await plainQuote(view, call)) ??
      unvalued(
        call.chainId,
        'no endpoint of this chain can simulate, so only plain transfers and calls of configured tokens can be valued',
      )
    )
  }

  return {
    quote(call) {
      const view = views.get(call.chainId)
      if (view === undefined) return { ok: false, fault: fault('CHAIN_NOT_SUPPORTED') }
      const transfer = plainTransferOf(view.chain, call)
      if (transfer === null) return refusing(simulatedQuote(view, call))
      if (transfer === 'unknown') {
        return refusing(plainQuote(view, call).then((quote) => quote ?? simulatedQuote(view, call)))
      }
      const quote = plain.quote(view, call, transfer)
      return quote instanceof Promise ? refusing(quote) : quote
    },
    forecast(call) {
      const view = views.get(call.chainId)
      if (view === undefined) {
        return Promise.resolve({ ok: false, fault: fault('CHAIN_NOT_SUPPORTED') })
      }
      return refusing(simulatedQuote(view, call))
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
