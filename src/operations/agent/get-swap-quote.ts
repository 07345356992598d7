import { invalidAt } from '../../api/parse.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import { SLIPPAGE_BPS_DEFAULT, type SwapInput } from '../../api/swap.js'
import { routerFee } from '../../contracts/router-intent-type.js'
import { boundedLeast } from '../../defi/exchange-of.js'
import { SERVICE_FEE_BPS } from '../../defi/fee.js'
import {
  leastOutput,
  noRoute,
  offerFor,
  swapExchange,
  type WantedSwap,
} from '../../defi/plan-swap.js'
import { QUOTE_LIFETIME_MS } from '../../defi/quote-book.js'
import { isoTime } from '../../domain/iso-time.js'
import { formatUnits } from '../../domain/money.js'
import { maxSwapLossOf } from '../../domain/swap-bound.js'
import { type Fault, fault, ok, type Result, refuse } from '../../errors/fault.js'
import { newId } from '../../store/new-id.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { symbolAndDecimals } from '../sponsored/quote-fields.js'

/** Reads the chain at each call; nothing is reserved or signed. */
export function getSwapQuote(ports: OperationPorts): AgentHandlers['get_swap_quote'] {
  return ({ key }, input) =>
    answerFromChain(ports, input.chain_id, async (chain) => {
      const wanted = wantedSwap(input)
      if (!wanted.ok) return wanted
      const { tokenIn, tokenOut, amountIn } = wanted.value
      const [factsIn, factsOut] = await Promise.all([
        symbolAndDecimals(chain, tokenIn),
        symbolAndDecimals(chain, tokenOut),
      ])
      if (factsIn === null) return refuse(noToken('token_in'))
      if (factsOut === null) return refuse(noToken('token_out'))
      const offer = await offerFor(ports, chain, wanted.value)
      if (offer === null) return refuse(noRoute())
      const account = ports.reader.wallets.byId(key.subWalletId)?.address
      if (account === undefined) return refuse(fault('INVALID_KEY'))
      const exchange = await swapExchange(ports, chain, account, wanted.value, offer)
      const slippageBps = input.slippage_bps ?? null
      const taken = leastOutput(offer.amountOut, slippageBps ?? SLIPPAGE_BPS_DEFAULT)
      // A quote moves nothing, so without a price it shows the bound that the caller asked for.
      const minOut = boundedLeast(exchange.ok ? exchange.value : null, offer.amountOut, taken, {
        ...{ slippageBps, maxLossBps: maxSwapLossOf(ports.reader, key) },
      })
      const quoteId = newId<string>('quote_', ports.timers)
      const { userId, subWalletId, lineageId } = key
      const chainId = input.chain_id
      const terms = { chainId, tokenIn, tokenOut, amountIn, minOut, slippageBps }
      ports.quotes.hold(quoteId, { userId, subWalletId, lineageId, ...terms })
      return {
        ok: true,
        value: {
          amount_in: input.amount_in,
          amount_out: formatUnits(offer.amountOut, factsOut.decimals),
          fee_amount: routerFee(amountIn, SERVICE_FEE_BPS).toString(),
          fee_token: factsIn.symbol,
          gas_sponsored: ports.hasRouter(chainId),
          chain_id: chainId,
          token_in: tokenIn,
          token_out: tokenOut,
          amount_out_min: formatUnits(minOut, factsOut.decimals),
          price_impact_bps: offer.priceImpactBps,
          fee_bps: SERVICE_FEE_BPS,
          route: {
            venue: offer.venue,
            tokens: offer.tokens.map(toChecksumAddress),
            pool_fees: [...offer.poolFees],
          },
          expires_at: isoTime(ports.nowMs() + QUOTE_LIFETIME_MS),
          quote_id: quoteId,
        },
      }
    })
}

/** @returns refusals: `INVALID_REQUEST` */
export function wantedSwap(input: SwapInput): Result<WantedSwap> {
  const tokenIn = toChecksumAddress(input.token_in)
  const tokenOut = toChecksumAddress(input.token_out)
  if (tokenIn === tokenOut) return refuse(invalidAt('token_out', 'is the same as token_in'))
  return ok({ tokenIn, tokenOut, amountIn: BigInt(input.amount_in) })
}

function noToken(path: string): Fault {
  return invalidAt(path, 'is not an ERC-20 token on this chain')
}
