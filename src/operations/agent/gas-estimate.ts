import { formatUnits } from '../../domain/money.js'
import { fault } from '../../errors/fault.js'
import { answerFromChain } from '../chain-answer.js'
import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

/**
 * Gas of one transaction of the five: an ERC-20 transfer with room to spare, the usual call of an
 * agent. Spec silent: the advice is what five of these cost at the fee the service would sign.
 */
const GAS_PER_TX = 100_000n
const TRANSACTIONS = 5n

export function gasEstimate(ports: OperationPorts): AgentHandlers['gas_estimate'] {
  return ({ key }, { chain_id }) => {
    const owner = ports.reader.wallets.byId(key.subWalletId)?.address
    if (owner === undefined) return { ok: false, fault: fault('INVALID_KEY') }
    return answerFromChain(ports, chain_id, async ({ reads, fees }) => {
      const [quote, balance] = await Promise.all([fees.quote(), reads.nativeBalance(owner)])
      const advised = GAS_PER_TX * TRANSACTIONS * quote.fees.maxFeePerGas
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
