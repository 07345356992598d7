import { SLIPPAGE_BPS_DEFAULT } from '../../api/swap.js'
import { leastOutput, planSwap, type WantedSwap } from '../../defi/plan-swap.js'
import type { QuoteName } from '../../domain/idempotency.js'
import { maxSwapLossOf } from '../../domain/swap-bound.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { AgentContext, AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { sponsorCall, sponsoredChain, sponsorForgotten } from '../sponsored/sponsor-call.js'
import { wantedSwap } from './get-swap-quote.js'

type Input = Parameters<AgentHandlers['execute_swap']>[1]

interface Terms {
  readonly chainId: number
  readonly wanted: WantedSwap
  readonly minOutOf: (amountOut: bigint) => bigint
  /** As the caller gave it; null if it was not given. */
  readonly slippageBps: number | null
  /** Absent without a quote. */
  readonly executes?: QuoteName
}

/** Swaps with the quote's bound, or with one made from the current price. */
export function executeSwap(ports: OperationPorts): AgentHandlers['execute_swap'] {
  return async (context, input) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    if ('chain_id' in input) {
      // Checked before the tokens, because a chain without sponsored calls is the first reason to
      // refuse.
      const on = sponsoredChain(ports, context, input.chain_id)
      if (!on.ok) return on
    }
    const terms = termsOf(ports, context, input)
    if (!terms.ok) {
      // A quote lives for a minute and ends with the process, but a request may be repeated for a
      // day.
      return 'quote_id' in input
        ? sponsorForgotten(ports, context, input.quote_id, terms.fault)
        : terms
    }
    const { chainId, wanted, executes, ...least } = terms.value
    const on = sponsoredChain(ports, context, chainId)
    if (!on.ok) return on
    const { tokenIn, tokenOut, amountIn } = wanted
    const fingerprint = `swap|${tokenIn}|${tokenOut}|${amountIn}`
    const request = {
      kind: 'swap' as const,
      fingerprint,
      ...(executes === undefined ? {} : { executes }),
    }
    return sponsorCall(ports, context, on.value, request, () =>
      planSwap(ports, on.value.chain, account, wanted, {
        ...least,
        maxLossBps: maxSwapLossOf(ports.reader, context.key),
      }),
    )
  }
}

function termsOf({ quotes }: OperationPorts, { key }: AgentContext, input: Input): Result<Terms> {
  if ('quote_id' in input) {
    const held = quotes.take(input.quote_id, key.subWalletId)
    if (held === null) {
      const message = 'This quote no longer exists. Ask for a new one.'
      return refuse(fault('NOT_FOUND', { quote_id: input.quote_id }, message))
    }
    const { chainId, lineageId, slippageBps, minOut } = held
    const executes = { lineageId, quoteId: input.quote_id }
    return ok({ chainId, wanted: held, executes, slippageBps, minOutOf: () => minOut })
  }
  const wanted = wantedSwap(input)
  if (!wanted.ok) return wanted
  const slippageBps = input.slippage_bps ?? null
  const minOutOf = (amountOut: bigint) =>
    leastOutput(amountOut, slippageBps ?? SLIPPAGE_BPS_DEFAULT)
  return ok({ chainId: input.chain_id, wanted: wanted.value, minOutOf, slippageBps })
}
