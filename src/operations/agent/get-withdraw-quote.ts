import { lackOfShares, refusedByVault } from '../../defi/plan-vault.js'
import { fault, ok, refuse } from '../../errors/fault.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { netOfFee, quoteFields, symbolAndDecimals } from '../sponsored/quote-fields.js'
import { marketForQuote } from '../sponsored/vault-quote.js'

/** Quotes a withdrawal at current prices; the input is vault shares, and so is the fee. */
export function getWithdrawQuote(ports: OperationPorts): AgentHandlers['get_withdraw_quote'] {
  return ({ key }, input) =>
    answerFromChain(ports, input.chain_id, async (chain) => {
      const found = await marketForQuote(ports, chain, key.subWalletId, input.market_id)
      if (!found.ok) return found
      const { vault, state } = found.value
      if (input.shares === 'max' && state.shares === 0n) {
        return refuse(lackOfShares(vault, 0n, 1n))
      }
      const amountIn = input.shares === 'max' ? state.shares : BigInt(input.shares)
      const [assets, asset, share] = await Promise.all([
        ports.vaultVenue.previewRedeem(chain, vault, netOfFee(amountIn)),
        symbolAndDecimals(chain, state.asset),
        symbolAndDecimals(chain, vault),
      ])
      if (assets === null || assets === 0n)
        return refuse(refusedByVault('the vault would pay out nothing'))
      if (asset === null || share === null) {
        return refuse(fault('CHAIN_UNAVAILABLE', { chain_id: input.chain_id }))
      }
      const fields = quoteFields(ports, chain, amountIn, assets, share.symbol, asset.decimals)
      return ok({ ...fields, market_id: input.market_id })
    })
}
