import type { ConsoleOperationName } from './console-operations.js'
import type { JsonSchema, JsonValue } from './json-schema.js'
import { TIME } from './openapi-examples.js'
import type { OperationName } from './operations.js'

/**
 * What operations answer on success: what it means, by status, and an example where the usual one of
 * its schema would not be true. A test on a running service holds that of a send to a real answer.
 */

type Name = OperationName | ConsoleOperationName
type Example = Readonly<Record<string, JsonValue>>

interface Answer {
  readonly status: number
  readonly description: string
  readonly example?: Example
}

const ROUTER = '0x36C02dA8a0983159322a80FFE9F24b1acfF8B570'

/** A send of 0.001 ETH on Base that a node has just taken. */
export const SENT_TRANSACTION: Example = {
  tx_id: 'tx_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  tx_hash: '0x2b1a6f0c4d3e5f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8',
  chain_id: 8453,
  from: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  to: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  value: '1000000000000000',
  data: '0x',
  nonce: 7,
  status: 'broadcast',
  kind: 'send',
  spend_usd: '3.06',
  fee_native_wei: null,
  block_number: null,
  confirmations: 0,
  error: null,
  replaced_hashes: [],
  key_id: 'key_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  created_at: TIME,
  updated_at: TIME,
  confirmed_at: null,
}

/** The same, as deep in the chain as Base is configured. */
export const CONFIRMED: Example = {
  ...{ status: 'confirmed', confirmations: 2, block_number: 38_204_115 },
  ...{ fee_native_wei: '252000000000', spend_usd: '3.06', confirmed_at: TIME },
}

/** What was executed is null until it is mined. */
function sponsored(kind: string): Example {
  return {
    ...{ ...SENT_TRANSACTION, to: ROUTER, value: '0', data: '0x8d80ff0a', kind, spend_usd: '1.50' },
    ...{ fee_token: null, fee_amount: null, token_in: null, amount_in: null },
    ...{ token_out: null, amount_out: null },
  }
}

const WAITS =
  'It is signed, stored, and as good as sent: it is in the queue of its account, or no node has taken it yet, and the service goes on until one does or the chain rules it out. Nothing has to be repeated; follow `tx_id`. `queued_behind` names the transaction before it where it waits for one. Or, with the status `awaiting_approval`, its key’s policy asks for approval or for time: it is stored with what it would spend, not signed, and `approval` says what it waits for.'
const TAKEN = 'A node has taken it; follow `tx_id` until it is confirmed, failed or dropped.'
const QUEUED: Example = {
  status: 'signed',
  nonce: 8,
  queued_behind: 'tx_01KAJ5Q4Z7R8M2V9C3T6W1X0YA',
}

/** Of a write: at once, or later. */
function written(taken: Example): readonly Answer[] {
  return [
    { status: 200, description: TAKEN, example: taken },
    { status: 202, description: WAITS, example: { ...taken, ...QUEUED } },
  ]
}

const one = (description: string, status = 200): readonly Answer[] => [{ status, description }]

const ANSWERS: Readonly<Partial<Record<Name, readonly Answer[]>>> = {
  send_transaction: written(SENT_TRANSACTION),
  execute_swap: written(sponsored('swap')),
  defi_deposit: written(sponsored('defi_deposit')),
  defi_withdraw: written(sponsored('defi_withdraw')),
  gas_swap: written(sponsored('gas_swap')),
  get_transaction_status: [
    {
      status: 200,
      description: 'The transaction as it is now.',
      example: { ...SENT_TRANSACTION, ...CONFIRMED },
    },
  ],
  simulate_transaction: one('What would happen if it were sent now; nothing was signed or spent.'),
  get_limits: one('The caps, what is used and what is reserved of them.'),
  get_balance: one('What the wallet has of the token.'),
  get_native_balance: one('What the wallet has of the native currency, in wei.'),
  get_token_balances: one('What it has of each configured token.'),
  get_allowances: one('Approvals made here that the chain still honours.'),
  get_swap_quote: one('What a swap would bring now; good until `expires_at`.'),
  get_deposit_quote: one('What a deposit would bring now, in shares.'),
  get_withdraw_quote: one('What a withdrawal would bring now.'),
  get_gas_swap_quote: one('What a gas swap would bring now.'),
  create_child_key: one('The key, with its secret, which is shown this once.', 201),
  create_wallet: one('The sub-wallet, with an address that is good on every chain.', 201),
  create_key: one('The key, with its secret, which is shown this once.', 201),
  rotate_key: one('The successor, with its secret, and when the key before it ends.'),
  revoke_key: one('The key, which is of no use any more from now on.'),
  create_webhook: one('The endpoint, with its secret, which is shown this once.', 201),
  test_webhook: one('The test event is on its way.', 202),
  redeliver_event: one('The event is on its way again.', 202),
  put_address_rule: one('The rule, in force from the next call on.', 201),
  list_events: [
    {
      status: 200,
      description: 'Events in order; go on with `next_after`.',
      example: {
        events: [
          {
            ...{ seq: 42, event_id: 'evt_01KAJ5Q4Z7R8M2V9C3T6W1X0YB', timestamp: TIME },
            type: 'transaction.confirmed',
            data: { ...SENT_TRANSACTION, ...CONFIRMED, confirmations: 1 },
          },
        ],
        next_after: 42,
        has_more: false,
        log_starts_after: 0,
      },
    },
  ],
}

/** @param title what is said of an operation that needs no more */
export function answersOf(name: string, title: string): readonly Answer[] {
  return ANSWERS[name as Name] ?? one(title)
}

/** The components, with the example of a transaction that all of its kind show. */
export function withExamples(
  components: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  return { ...components, Transaction: { ...components.Transaction, examples: [SENT_TRANSACTION] } }
}
