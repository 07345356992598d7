import { formatUnits } from '../../domain/money.js'
import { worstCaseFeeWei } from '../../domain/transaction-fee.js'
import { fault } from '../../errors/fault.js'
import { ENVELOPE_BYTES } from '../../valuation/quote-parts.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/**
 * Gas of one of five transactions, enough for an agent's usual call, an ERC-20 transfer. Spec
 * silent: the advice is what the service would reserve for five of these at the fee that it would
 * sign, including the other fees of the OP stack, so that a wallet with that balance can send five.
 */
const GAS_PER_TX = 100_000n
/** A selector and two words. */
const BYTES_PER_TX = ENVELOPE_BYTES + 68
const TRANSACTIONS = 5n

export function gasEstimate(ports: OperationPorts): AgentHandlers['gas_estimate'] {
  return ({ key }, { chain_id }) => {
    const owner = ports.reader.wallets.byId(key.subWalletId)?.address
    if (owner === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    return answerFromChain(ports, chain_id, async ({ reads, fees, gas }) => {
      const [quote, sideFee, balance] = await Promise.all([
        fees.quote(),
        gas.sideFee(BYTES_PER_TX),
        reads.nativeBalance(owner),
      ])
      const advised = TRANSACTIONS * worstCaseFeeWei(GAS_PER_TX, quote.fees.maxFeePerGas, sideFee)
      return {
        ok: true,
        value: {
          chain_id,
          gas_price_wei: quote.gasPriceWei.toString(),
          recommended_eth_for_5_txs: formatUnits(advised, 18),
          native_balance_wei: balance.toString(),
        },
      }
    })
  }
}
