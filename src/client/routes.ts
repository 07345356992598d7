import type { ConsoleOperation, ConsoleOperationName } from '../api/console-operations.js'
import type { Operation, OperationName } from '../api/operations.js'

/**
 * The route of each operation, without schemas, because the client runs where nothing is installed.
 * The types tie this to the operations tables: a missing or different row does not compile.
 */

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** `:name` parameters are input fields. */
  readonly path: string
  /**
   * True: it takes an Idempotency-Key and may be repeated. False: it changes nothing. Absent for
   * others: repeated after a lost answer, they would be done twice.
   */
  readonly movesValue?: boolean
}

type AgentRow<N extends OperationName> = Extract<Operation, { name: N }>
type ConsoleRow<N extends ConsoleOperationName> = Extract<ConsoleOperation, { name: N }>

type AgentRoutes = {
  readonly [N in OperationName]: Pick<AgentRow<N>, 'method' | 'path'> & Repetition<AgentRow<N>>
}
type Repetition<R extends Operation> = R['movesValue'] extends true
  ? { readonly movesValue: true }
  : R['permission'] extends 'read'
    ? { readonly movesValue: false }
    : { readonly movesValue?: never }
type ConsoleRoutes = {
  readonly [N in ConsoleOperationName]: Pick<ConsoleRow<N>, 'method' | 'path'>
}

export const AGENT_ROUTES = {
  get_wallet_address: { method: 'GET', path: '/api/wallet/address', movesValue: false },
  get_balance: { method: 'GET', path: '/api/wallet/balance', movesValue: false },
  get_native_balance: { method: 'GET', path: '/api/wallet/native-balance', movesValue: false },
  get_token_balances: { method: 'GET', path: '/api/wallet/token-balances', movesValue: false },
  get_allowances: { method: 'GET', path: '/api/wallet/allowances', movesValue: false },
  get_supported_chains: { method: 'GET', path: '/api/wallet/chains', movesValue: false },
  get_limits: { method: 'GET', path: '/api/limits', movesValue: false },
  gas_estimate: { method: 'GET', path: '/api/gas/estimate', movesValue: false },
  send_transaction: { method: 'POST', path: '/api/tx/send', movesValue: true },
  simulate_transaction: { method: 'POST', path: '/api/tx/simulate', movesValue: false },
  get_transaction_status: { method: 'GET', path: '/api/tx/:tx_id', movesValue: false },
  withdraw_transaction: { method: 'POST', path: '/api/tx/:tx_id/withdraw' },
  get_swap_quote: { method: 'POST', path: '/api/swap/quote', movesValue: false },
  execute_swap: { method: 'POST', path: '/api/swap/execute', movesValue: true },
  get_defi_markets: { method: 'GET', path: '/api/defi/markets', movesValue: false },
  get_positions: { method: 'GET', path: '/api/defi/positions', movesValue: false },
  get_deposit_quote: { method: 'POST', path: '/api/defi/deposit/quote', movesValue: false },
  defi_deposit: { method: 'POST', path: '/api/defi/deposit', movesValue: true },
  get_withdraw_quote: { method: 'POST', path: '/api/defi/withdraw/quote', movesValue: false },
  defi_withdraw: { method: 'POST', path: '/api/defi/withdraw', movesValue: true },
  get_gas_swap_quote: { method: 'POST', path: '/api/gas/swap/quote', movesValue: false },
  gas_swap: { method: 'POST', path: '/api/gas/swap', movesValue: true },
  create_child_key: { method: 'POST', path: '/api/keys/child' },
} as const satisfies AgentRoutes

export const CONSOLE_ROUTES = {
  get_user: { method: 'GET', path: '/api/v1/agent/me' },
  list_members: { method: 'GET', path: '/api/v1/agent/members' },
  invite_member: { method: 'POST', path: '/api/v1/agent/members' },
  change_member: { method: 'PATCH', path: '/api/v1/agent/members/:person_id' },
  remove_member: { method: 'DELETE', path: '/api/v1/agent/members/:person_id' },
  leave_account: { method: 'POST', path: '/api/v1/agent/members/leave' },
  accept_invitation: { method: 'POST', path: '/api/v1/agent/invitations/accept' },
  decline_invitation: { method: 'POST', path: '/api/v1/agent/invitations/decline' },
  create_wallet: { method: 'POST', path: '/api/v1/agent/wallets' },
  list_wallets: { method: 'GET', path: '/api/v1/agent/wallets' },
  get_wallet_balances: {
    method: 'GET',
    path: '/api/v1/agent/wallets/:sub_wallet_id/balances',
  },
  get_wallet_positions: {
    method: 'GET',
    path: '/api/v1/agent/wallets/:sub_wallet_id/positions',
  },
  get_wallet_allowances: {
    method: 'GET',
    path: '/api/v1/agent/wallets/:sub_wallet_id/allowances',
  },
  get_wallet_gas: { method: 'GET', path: '/api/v1/agent/wallets/:sub_wallet_id/gas' },
  create_key: { method: 'POST', path: '/api/v1/agent/keys' },
  list_keys: { method: 'GET', path: '/api/v1/agent/keys' },
  rotate_key: { method: 'POST', path: '/api/v1/agent/keys/:key_id/rotate' },
  revoke_key: { method: 'POST', path: '/api/v1/agent/keys/:key_id/revoke' },
  patch_key: { method: 'PATCH', path: '/api/v1/agent/keys/:key_id' },
  freeze: { method: 'POST', path: '/api/v1/agent/freeze' },
  unfreeze: { method: 'POST', path: '/api/v1/agent/unfreeze' },
  list_authorizers: { method: 'GET', path: '/api/v1/agent/authorizers' },
  create_webhook: { method: 'POST', path: '/api/v1/agent/webhooks' },
  list_webhooks: { method: 'GET', path: '/api/v1/agent/webhooks' },
  patch_webhook: { method: 'PATCH', path: '/api/v1/agent/webhooks/:webhook_id' },
  test_webhook: { method: 'POST', path: '/api/v1/agent/webhooks/:webhook_id/test' },
  rotate_webhook_secret: {
    method: 'POST',
    path: '/api/v1/agent/webhooks/:webhook_id/rotate-secret',
  },
  list_deliveries: { method: 'GET', path: '/api/v1/agent/webhooks/:webhook_id/deliveries' },
  redeliver_event: { method: 'POST', path: '/api/v1/agent/events/:event_id/redeliver' },
  list_events: { method: 'GET', path: '/api/v1/agent/events' },
  delete_webhook: { method: 'DELETE', path: '/api/v1/agent/webhooks/:webhook_id' },
  test_policy: { method: 'POST', path: '/api/v1/agent/keys/:key_id/policy/test' },
  backtest_key: { method: 'POST', path: '/api/v1/agent/keys/:key_id/backtest' },
  list_audit: { method: 'GET', path: '/api/v1/agent/audit' },
  put_address_rule: { method: 'POST', path: '/api/v1/agent/address-rules' },
  get_breakers: { method: 'GET', path: '/api/v1/agent/breakers' },
  set_breakers: { method: 'POST', path: '/api/v1/agent/breakers' },
  list_address_rules: { method: 'GET', path: '/api/v1/agent/address-rules' },
  delete_address_rule: { method: 'DELETE', path: '/api/v1/agent/address-rules' },
  list_screening_lists: { method: 'GET', path: '/api/v1/agent/lists' },
  check_address: { method: 'GET', path: '/api/v1/agent/lists/check' },
  revoke_allowances: {
    method: 'POST',
    path: '/api/v1/agent/wallets/:sub_wallet_id/revoke-allowances',
  },
  list_approvals: { method: 'GET', path: '/api/v1/agent/approvals' },
  get_approval: { method: 'GET', path: '/api/v1/agent/approvals/:approval_id' },
  approve_call: { method: 'POST', path: '/api/v1/agent/approvals/:approval_id/approve' },
  decline_call: { method: 'POST', path: '/api/v1/agent/approvals/:approval_id/decline' },
  list_transactions: { method: 'GET', path: '/api/v1/agent/transactions' },
  get_transaction: { method: 'GET', path: '/api/v1/agent/transactions/:tx_id' },
  list_spend: { method: 'GET', path: '/api/v1/agent/spend' },
  get_spend_totals: { method: 'GET', path: '/api/v1/agent/spend/totals' },
  list_refusals: { method: 'GET', path: '/api/v1/agent/refusals' },
  get_service_status: { method: 'GET', path: '/api/v1/agent/service' },
  cancel_transaction: { method: 'POST', path: '/api/v1/agent/transactions/:tx_id/cancel' },
} as const satisfies ConsoleRoutes
