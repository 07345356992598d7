import type { z } from 'zod'
import type { ErrorCode } from '../errors/catalogue.js'
import { allowances } from './allowances.js'
import {
  chainFilter,
  defiDepositInput,
  defiMarkets,
  defiPositions,
  defiWithdrawInput,
} from './defi.js'
import { gasSwapQuote, vaultQuote } from './quote.js'
import { executeSwapInput, gasSwapInput, swapQuote, swapQuoteInput } from './swap.js'
import {
  getTransactionInput,
  sendTransactionInput,
  simulation,
  transactionRecord,
} from './transaction.js'
import {
  balance,
  balanceInput,
  chainInput,
  gasEstimate,
  limits,
  nativeBalance,
  noInput,
  supportedChains,
  tokenBalances,
  walletAddress,
} from './wallet.js'

/**
 * The operations table: the one place an agent-facing operation is declared. REST routes, MCP
 * tools, the OpenAPI document and the client are all read from it, so they cannot drift; a row
 * without a handler does not compile (`src/operations/agent-handlers.ts`).
 */
export interface OperationRow {
  /** Verb–noun; the MCP tool's name where `tool` is set (CONTRACT.md, "MCP"). */
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** uWebSockets.js pattern; `:name` parameters are input fields. */
  readonly path: string
  readonly permission: 'read' | 'trade'
  readonly surface: 'rest-and-mcp' | 'rest'
  /** Sponsored calls need the Router and are refused first of all where there is none. */
  readonly gas: 'none' | 'agent' | 'sponsored'
  /** Takes an Idempotency-Key. */
  readonly movesValue: boolean
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  /** Codes beyond those every authenticated route may answer (`COMMON_ERRORS`). */
  readonly errors: readonly ErrorCode[]
}

export const COMMON_ERRORS = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'INVALID_KEY',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
  'OVERLOADED',
  'RECORD_DAMAGED',
  'INTERNAL',
] as const satisfies readonly ErrorCode[]

/** What every write may answer on top of `COMMON_ERRORS`. */
export const WRITE_ERRORS = [
  'CHAIN_NOT_ALLOWED',
  'LIMIT_EXCEEDED',
  'ADDRESS_BLOCKED',
  'PRICE_UNAVAILABLE',
  'CALLDATA_UNDECODABLE',
  'INSUFFICIENT_FUNDS',
  'SIMULATION_REVERTED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
  'DUPLICATE_SUSPECTED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'CHAIN_REJECTED',
  'SCREENING_UNAVAILABLE',
  'COSIGNER_UNAVAILABLE',
  'CHAIN_UNAVAILABLE',
  'WRITES_STOPPED',
] as const satisfies readonly ErrorCode[]

/** What every call may answer whose gas the service pays. */
export const SPONSORED_ERRORS = [
  ...WRITE_ERRORS,
  'ROUTER_NOT_AVAILABLE',
] as const satisfies readonly ErrorCode[]

export const operations = [
  {
    name: 'get_wallet_address',
    method: 'GET',
    path: '/api/wallet/address',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Wallet address',
    description: 'The EVM address of this sub-wallet, the same on every chain.',
    input: noInput,
    output: walletAddress,
    errors: [],
  },
  {
    name: 'get_balance',
    method: 'GET',
    path: '/api/wallet/balance',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Token balance',
    description: 'Balance of one token on one chain, in the smallest unit, read from the chain.',
    input: balanceInput,
    output: balance,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'get_native_balance',
    method: 'GET',
    path: '/api/wallet/native-balance',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Native balance',
    description: 'Balance of the native currency of one chain, in wei, read from the chain.',
    input: chainInput,
    output: nativeBalance,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'get_token_balances',
    method: 'GET',
    path: '/api/wallet/token-balances',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Token balances',
    description:
      'Balances of all known tokens on one chain, smallest units, with USD values where priced.',
    input: chainInput,
    output: tokenBalances,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'get_allowances',
    method: 'GET',
    path: '/api/wallet/allowances',
    permission: 'read',
    surface: 'rest',
    gas: 'none',
    movesValue: false,
    title: 'Standing approvals',
    description:
      'Approvals that this sub-wallet made on one chain and that still stand there, newest first.',
    input: chainInput,
    output: allowances,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'get_supported_chains',
    method: 'GET',
    path: '/api/wallet/chains',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Supported chains',
    description: 'The supported chains; swaps and vaults work only where has_router is true.',
    input: noInput,
    output: supportedChains,
    errors: [],
  },
  {
    name: 'get_limits',
    method: 'GET',
    path: '/api/limits',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Spend limits',
    description: 'Daily and monthly USD caps of this API key, and how much of them is used.',
    input: noInput,
    output: limits,
    errors: [],
  },
  {
    name: 'gas_estimate',
    method: 'GET',
    path: '/api/gas/estimate',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Gas estimate',
    description:
      'Gas price (wei), the native amount advised for five transactions, and the native balance (wei).',
    input: chainInput,
    output: gasEstimate,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'send_transaction',
    method: 'POST',
    path: '/api/tx/send',
    permission: 'trade',
    surface: 'rest-and-mcp',
    gas: 'agent',
    movesValue: true,
    title: 'Send a transaction',
    description:
      'Moves real funds; simulate first. Sends value (wei) and calldata from this sub-wallet, which pays the gas. Same idempotency key = same payment; reuse it when retrying.',
    input: sendTransactionInput,
    output: transactionRecord,
    errors: WRITE_ERRORS,
  },
  {
    name: 'simulate_transaction',
    method: 'POST',
    path: '/api/tx/simulate',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Simulate a transaction',
    description:
      'What a send of the same arguments would do: asset changes (smallest units), approvals, fee (wei), USD spend, screening. Signs nothing, spends nothing.',
    input: sendTransactionInput,
    output: simulation,
    errors: ['CHAIN_NOT_ALLOWED', 'PRICE_UNAVAILABLE', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'get_transaction_status',
    method: 'GET',
    path: '/api/tx/:tx_id',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Transaction status',
    description: 'The record of one transaction of this sub-wallet.',
    input: getTransactionInput,
    output: transactionRecord,
    errors: ['NOT_FOUND'],
  },
  {
    name: 'get_swap_quote',
    method: 'POST',
    path: '/api/swap/quote',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'Swap quote',
    description:
      'What a swap would bring now, with the fee (in token_in) and the least that is accepted. Moves nothing.',
    input: swapQuoteInput,
    output: swapQuote,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE', 'SIMULATION_REVERTED'],
  },
  {
    name: 'execute_swap',
    method: 'POST',
    path: '/api/swap/execute',
    permission: 'trade',
    surface: 'rest-and-mcp',
    gas: 'sponsored',
    movesValue: true,
    title: 'Swap tokens',
    description:
      'Moves real funds: swaps exactly amount_in; the service pays the gas and takes its fee in token_in. Give a quote_id, or the terms.',
    input: executeSwapInput,
    output: transactionRecord,
    errors: [...SPONSORED_ERRORS, 'SLIPPAGE_EXCEEDED', 'NOT_FOUND'],
  },
  {
    name: 'get_defi_markets',
    method: 'GET',
    path: '/api/defi/markets',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'DeFi markets',
    description: 'Vaults one can deposit into, with yield and size.',
    input: chainFilter,
    output: defiMarkets,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'get_positions',
    method: 'GET',
    path: '/api/defi/positions',
    permission: 'read',
    surface: 'rest-and-mcp',
    gas: 'none',
    movesValue: false,
    title: 'DeFi positions',
    description: 'Vault shares of this sub-wallet and what they are worth.',
    input: chainFilter,
    output: defiPositions,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE'],
  },
  {
    name: 'get_deposit_quote',
    method: 'POST',
    path: '/api/defi/deposit/quote',
    permission: 'read',
    surface: 'rest',
    gas: 'none',
    movesValue: false,
    title: 'Deposit quote',
    description:
      'What a deposit would bring in vault shares now, with the fee (in the asset). Moves nothing and holds no price: the deposit makes its own, and accepts 0.5 % less.',
    input: defiDepositInput,
    output: vaultQuote,
    errors: ['CHAIN_NOT_ALLOWED', 'CHAIN_UNAVAILABLE', 'SIMULATION_REVERTED', 'NOT_FOUND'],
  },
  {
    name: 'defi_deposit',
    method: 'POST',
    path: '/api/defi/deposit',
    permission: 'trade',
    surface: 'rest-and-mcp',
    gas: 'sponsored',
    movesValue: true,
    title: 'Deposit into a vault',
    description:
      'Moves real funds: deposits exactly amount; the service pays the gas and takes its fee in the asset.',
    input: defiDepositInput,
    output: transactionRecord,
    errors: [...SPONSORED_ERRORS, 'SLIPPAGE_EXCEEDED', 'NOT_FOUND'],
  },
  {
    name: 'get_withdraw_quote',
    method: 'POST',
    path: '/api/defi/withdraw/quote',
    permission: 'read',
    surface: 'rest',
    gas: 'none',
    movesValue: false,
    title: 'Withdrawal quote',
    description:
      'What vault shares would bring in the asset now, with the fee (in shares). Moves nothing and holds no price: the withdrawal makes its own, and accepts 0.5 % less.',
    input: defiWithdrawInput,
    output: vaultQuote,
    errors: [
      'CHAIN_NOT_ALLOWED',
      'CHAIN_UNAVAILABLE',
      'SIMULATION_REVERTED',
      'INSUFFICIENT_FUNDS',
      'NOT_FOUND',
    ],
  },
  {
    name: 'defi_withdraw',
    method: 'POST',
    path: '/api/defi/withdraw',
    permission: 'trade',
    surface: 'rest-and-mcp',
    gas: 'sponsored',
    movesValue: true,
    title: 'Withdraw from a vault',
    description:
      'Gives back vault shares for the asset; the service pays the gas and takes its fee in shares.',
    input: defiWithdrawInput,
    output: transactionRecord,
    errors: [...SPONSORED_ERRORS, 'SLIPPAGE_EXCEEDED', 'NOT_FOUND'],
  },
  {
    name: 'get_gas_swap_quote',
    method: 'POST',
    path: '/api/gas/swap/quote',
    permission: 'read',
    surface: 'rest',
    gas: 'none',
    movesValue: false,
    title: 'Gas swap quote',
    description:
      'Base only: what USDC would bring in native currency now, with the fee (in USDC). Moves nothing and holds no price: the gas swap makes its own, and accepts 0.5 % less.',
    input: gasSwapInput,
    output: gasSwapQuote,
    errors: [
      'CHAIN_NOT_ALLOWED',
      'CHAIN_UNAVAILABLE',
      'SIMULATION_REVERTED',
      'GAS_SWAP_NOT_SUPPORTED',
    ],
  },
  {
    name: 'gas_swap',
    method: 'POST',
    path: '/api/gas/swap',
    permission: 'trade',
    surface: 'rest-and-mcp',
    gas: 'sponsored',
    movesValue: true,
    title: 'Buy gas with USDC',
    description:
      'Base only: turns USDC into native currency, so that a wallet without any can send. The service pays the gas.',
    input: gasSwapInput,
    output: transactionRecord,
    errors: [...SPONSORED_ERRORS, 'GAS_SWAP_NOT_SUPPORTED', 'SLIPPAGE_EXCEEDED'],
  },
] as const satisfies readonly OperationRow[]

export type Operation = (typeof operations)[number]
export type OperationName = Operation['name']
export type OperationInput<N extends OperationName> = z.infer<
  Extract<Operation, { name: N }>['input']
>
export type OperationOutput<N extends OperationName> = z.infer<
  Extract<Operation, { name: N }>['output']
>
