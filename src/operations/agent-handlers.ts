import { createChildKey } from './agent/create-child-key.js'
import { defiDeposit } from './agent/defi-deposit.js'
import { defiWithdraw } from './agent/defi-withdraw.js'
import { executeSwap } from './agent/execute-swap.js'
import { gasEstimate } from './agent/gas-estimate.js'
import { gasSwap } from './agent/gas-swap.js'
import { getAllowances } from './agent/get-allowances.js'
import { getBalance } from './agent/get-balance.js'
import { getDefiMarkets } from './agent/get-defi-markets.js'
import { getDepositQuote } from './agent/get-deposit-quote.js'
import { getGasSwapQuote } from './agent/get-gas-swap-quote.js'
import { getLimits } from './agent/get-limits.js'
import { getNativeBalance } from './agent/get-native-balance.js'
import { getPositions } from './agent/get-positions.js'
import { getSupportedChains } from './agent/get-supported-chains.js'
import { getSwapQuote } from './agent/get-swap-quote.js'
import { getTokenBalances } from './agent/get-token-balances.js'
import { getTransactionStatus } from './agent/get-transaction-status.js'
import { getWalletAddress } from './agent/get-wallet-address.js'
import { getWithdrawQuote } from './agent/get-withdraw-quote.js'
import { sendTransaction } from './agent/send-transaction.js'
import { simulateTransactionHandler } from './agent/simulate-transaction.js'
import { withdrawTransaction } from './agent/withdraw-transaction.js'
import type { AgentHandlers } from './context.js'
import type { OperationPorts } from './ports.js'

/** One handler per row of the operations table; a missing one does not compile. */
export function createAgentHandlers(ports: OperationPorts): AgentHandlers {
  return {
    get_wallet_address: getWalletAddress(ports),
    get_balance: getBalance(ports),
    get_native_balance: getNativeBalance(ports),
    get_token_balances: getTokenBalances(ports),
    get_allowances: getAllowances(ports),
    get_supported_chains: getSupportedChains(ports),
    get_limits: getLimits(ports),
    gas_estimate: gasEstimate(ports),
    send_transaction: sendTransaction(ports),
    simulate_transaction: simulateTransactionHandler(ports),
    get_transaction_status: getTransactionStatus(ports),
    withdraw_transaction: withdrawTransaction(ports),
    get_swap_quote: getSwapQuote(ports),
    execute_swap: executeSwap(ports),
    get_defi_markets: getDefiMarkets(ports),
    get_positions: getPositions(ports),
    get_deposit_quote: getDepositQuote(ports),
    defi_deposit: defiDeposit(ports),
    get_withdraw_quote: getWithdrawQuote(ports),
    defi_withdraw: defiWithdraw(ports),
    get_gas_swap_quote: getGasSwapQuote(ports),
    gas_swap: gasSwap(ports),
    create_child_key: createChildKey(ports),
  }
}
