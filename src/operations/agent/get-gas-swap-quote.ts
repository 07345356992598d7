import { toChecksumAddress } from '../../api/parse-address.js'
import { noRoute, offerFor } from '../../defi/plan-swap.js'
import { NATIVE_DECIMALS, NATIVE_TOKEN } from '../../domain/chains.js'
import { ok, refuse } from '../../errors/fault.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { usdcForGas } from '../sponsored/gas-token.js'
import { quoteFields } from '../sponsored/quote-fields.js'

/** Quotes USDC in native currency at the current price (Base only). */
export function getGasSwapQuote(ports: OperationPorts): AgentHandlers['get_gas_swap_quote'] {
  return (_context, input) =>
    answerFromChain(ports, input.chain_id, async (chain) => {
      const usdc = usdcForGas(chain)
      if (!usdc.ok) return usdc
      const amountIn = BigInt(input.amount_in)
      const tokenIn = toChecksumAddress(usdc.value)
      const offer = await offerFor(ports, chain, { tokenIn, tokenOut: NATIVE_TOKEN, amountIn })
      if (offer === null) return refuse(noRoute())
      return ok(quoteFields(ports, chain, amountIn, offer.amountOut, 'USDC', NATIVE_DECIMALS))
    })
}
