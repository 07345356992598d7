import { SLIPPAGE_BPS_DEFAULT } from '../../api/swap.js'
import { leastOutput, planSwap, type WantedSwap } from '../../defi/plan-swap.js'
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
}

/** The quote's bound, or one made from the price of now. */
export function executeSwap(ports: OperationPorts): AgentHandlers['execute_swap'] {
  return async (context, input) => {
    const account = ports.reader.wallets.byId(context.key.subWalletId)?.address
    if (account === undefined) return refuse(fault('INVALID_KEY'))
    if ('chain_id' in input) {
      // Before the tokens are looked at: the chain's lack comes first of all.
      const on = sponsoredChain(ports, context, input.chain_id)
      if (!on.ok) return on
    }
    const terms = termsOf(ports, context, input)
    if (!terms.ok) {
      // A quote lives for a minute, and not past the process; a request may come again for a day.
      return 'quote_id' in input ? sponsorForgotten(ports, context, 'swap', terms.fault) : terms
    }
    const { chainId, wanted, minOutOf } = terms.value
    const on = sponsoredChain(ports, context, chainId)
    if (!on.ok) return on
    const { tokenIn, tokenOut, amountIn } = wanted
    const fingerprint = `swap|${tokenIn}|${tokenOut}|${amountIn}`
    return sponsorCall(ports, context, on.value, { kind: 'swap', fingerprint }, () =>
      planSwap(ports, on.value.chain, account, wanted, minOutOf),
    )
  }
}

function termsOf({ quotes }: OperationPorts, { key }: AgentContext, input: Input): Result<Terms> {
  if ('quote_id' in input) {
    const held = quotes.take(input.quote_id, key.subWalletId)
    if (held === null) {
      const message = 'There is no such quote any more; ask for a new one.'
      return refuse(fault('NOT_FOUND', { quote_id: input.quote_id }, message))
    }
    return ok({ chainId: held.chainId, wanted: held, minOutOf: () => held.minOut })
  }
  const wanted = wantedSwap(input)
  if (!wanted.ok) return wanted
  const slippageBps = input.slippage_bps ?? SLIPPAGE_BPS_DEFAULT
  const minOutOf = (amountOut: bigint) => leastOutput(amountOut, slippageBps)
  return ok({ chainId: input.chain_id, wanted: wanted.value, minOutOf })
}
