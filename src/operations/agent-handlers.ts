import { gasEstimate } from './agent/gas-estimate.js'
import { getBalance } from './agent/get-balance.js'
import { getLimits } from './agent/get-limits.js'
import { getNativeBalance } from './agent/get-native-balance.js'
import { getSupportedChains } from './agent/get-supported-chains.js'
import { getTokenBalances } from './agent/get-token-balances.js'
import { getTransactionStatus } from './agent/get-transaction-status.js'
import { getWalletAddress } from './agent/get-wallet-address.js'
import { sendTransaction } from './agent/send-transaction.js'
import { simulateTransactionHandler } from './agent/simulate-transaction.js'
import type { AgentHandlers } from './context.js'
import type { OperationPorts } from './ports.js'

/** One handler per row of the operations table; a missing one does not compile. */
export function createAgentHandlers(ports: OperationPorts): AgentHandlers {
  return {
    get_wallet_address: getWalletAddress(ports),
    get_balance: getBalance(ports),
    get_native_balance: getNativeBalance(ports),
    get_token_balances: getTokenBalances(ports),
    get_supported_chains: getSupportedChains(ports),
    get_limits: getLimits(ports),
    gas_estimate: gasEstimate(ports),
    send_transaction: sendTransaction(ports),
    simulate_transaction: simulateTransactionHandler(ports),
    get_transaction_status: getTransactionStatus(ports),
  }
}
