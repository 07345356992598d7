import { refusedByVault } from '../../defi/plan-vault.js'
import { fault, ok, refuse } from '../../errors/fault.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { netOfFee, quoteFields, symbolAndDecimals } from '../sponsored/quote-fields.js'
import { marketForQuote } from '../sponsored/vault-quote.js'

/** Quotes a deposit at current prices. Nothing is reserved: a deposit computes its own price. */
export function getDepositQuote(ports: OperationPorts): AgentHandlers['get_deposit_quote'] {
  return ({ key }, input) =>
    answerFromChain(ports, input.chain_id, async (chain) => {
      const found = await marketForQuote(ports, chain, key.subWalletId, input.market_id)
      if (!found.ok) return found
      const { vault, state } = found.value
      if (state.paused) return refuse(refusedByVault('the vault takes no deposits'))
      const amountIn = BigInt(input.amount)
      const [shares, asset, share] = await Promise.all([
        ports.vaultVenue.previewDeposit(chain, vault, netOfFee(amountIn)),
        symbolAndDecimals(chain, state.asset),
        symbolAndDecimals(chain, vault),
      ])
      if (shares === null || shares === 0n)
        return refuse(refusedByVault('the vault would pay out nothing'))
      if (asset === null || share === null) {
        return refuse(fault('CHAIN_UNAVAILABLE', { chain_id: input.chain_id }))
      }
      const fields = quoteFields(ports, chain, amountIn, shares, asset.symbol, share.decimals)
      return ok({ ...fields, market_id: input.market_id })
    })
}
