import type { OperationName } from '../api/operations.js'

/**
 * The command of each operation of an agent. Null marks one that needs more than its fields (a swap
 * that quotes first, balances in one table) and has its own file in `commands/`.
 */
export const AGENT_COMMANDS: Readonly<Record<OperationName, string | null>> = {
  get_wallet_address: 'address',
  get_balance: 'balance',
  get_native_balance: null,
  get_token_balances: null,
  get_allowances: 'allowances',
  get_supported_chains: 'chains',
  get_limits: 'limits',
  gas_estimate: 'gas',
  send_transaction: 'send',
  simulate_transaction: 'simulate',
  get_transaction_status: null,
  withdraw_transaction: 'withdraw-tx',
  get_swap_quote: null,
  execute_swap: null,
  get_defi_markets: 'markets',
  get_positions: 'positions',
  get_deposit_quote: 'deposit-quote',
  defi_deposit: 'deposit',
  get_withdraw_quote: 'withdraw-quote',
  defi_withdraw: 'withdraw',
  get_gas_swap_quote: 'gas-swap-quote',
  gas_swap: 'gas-swap',
  create_child_key: null,
}
