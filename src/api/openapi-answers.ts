import type { ConsoleOperationName } from './console-operations.js'
import { RECORDED_EXAMPLES } from './generated/recorded-examples.js'
import type { JsonSchema, JsonValue } from './json-schema.js'
import type { OperationName } from './operations.js'

/**
 * The success answers of operations: what each status means, and an example if the recorded one has
 * another status.
 */

type Name = OperationName | ConsoleOperationName
type Example = Readonly<Record<string, JsonValue>>

interface Answer {
  readonly status: number
  readonly description: string
  readonly example?: Example
}

/** A send of 0.001 ETH on Base that a node has just accepted. */
export const SENT_TRANSACTION: Example = recorded('send_transaction')

/** The same transaction, confirmed at Base's configured depth. */
export const CONFIRMED: Example = recorded('get_transaction_status')

function recorded(name: Name): Example {
  return RECORDED_EXAMPLES[name]?.answer ?? {}
}

const WAITS =
  'It is signed, stored, and as good as sent: it is in the queue of its account, or no node has taken it yet, and the service goes on until one does or the chain rules it out. Nothing has to be repeated; follow `tx_id`. `queued_behind` names the transaction before it where it waits for one. Or, with the status `awaiting_approval`, its key’s policy asks for approval or for time: it is stored with what it would spend, not signed, and `approval` says what it waits for.'
const TAKEN = 'A node has accepted it; follow `tx_id` until it is confirmed, failed or dropped.'
const QUEUED: Example = {
  status: 'signed',
  queued_behind: 'tx_01KAJ5Q4Z7R8M2V9C3T6W1X0YA',
}

/** The answers of a write: done at once, or later. */
function written(name: Name): readonly Answer[] {
  return [
    { status: 200, description: TAKEN },
    { status: 202, description: WAITS, example: { ...recorded(name), ...QUEUED } },
  ]
}

const one = (description: string, status = 200): readonly Answer[] => [{ status, description }]

const ANSWERS: Readonly<Partial<Record<Name, readonly Answer[]>>> = {
  send_transaction: written('send_transaction'),
  execute_swap: written('execute_swap'),
  defi_deposit: written('defi_deposit'),
  defi_withdraw: written('defi_withdraw'),
  gas_swap: written('gas_swap'),
  get_transaction_status: one('The transaction as it is now.'),
  simulate_transaction: one('What would happen if it were sent now; nothing was signed or spent.'),
  get_limits: one('The caps, and how much of them is used and reserved.'),
  get_balance: one("The wallet's balance of the token."),
  get_native_balance: one("The wallet's balance of the native currency, in wei."),
  get_token_balances: one("The wallet's balance of each configured token."),
  get_allowances: one('Allowances made here that are still in force.'),
  get_swap_quote: one('What a swap would yield now; valid until `expires_at`.'),
  get_deposit_quote: one('What a deposit would yield now, in shares.'),
  get_withdraw_quote: one('What a withdrawal would yield now.'),
  get_gas_swap_quote: one('What a gas swap would yield now.'),
  create_child_key: one('The key, with its secret, which is shown only once.', 201),
  create_wallet: one('The sub-wallet, with an address that is the same on every chain.', 201),
  create_key: one('The key, with its secret, which is shown only once.', 201),
  rotate_key: one('The successor, with its secret, and when the previous key ends.'),
  revoke_key: one('The key, which is refused from now on.'),
  create_webhook: one('The endpoint, with its secret, which is shown only once.', 201),
  test_webhook: one('The test event is on its way.', 202),
  redeliver_event: one('The event is on its way again.', 202),
  put_address_rule: one('The rule, in force from the next call on.', 201),
  list_events: one('Events in order; continue with `next_after`.'),
}

/** @param title describes an operation that has no other description */
export function answersOf(name: string, title: string): readonly Answer[] {
  return ANSWERS[name as Name] ?? one(title)
}

/** The components, with the example of a transaction that all operations share. */
export function withExamples(
  components: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  return { ...components, Transaction: { ...components.Transaction, examples: [SENT_TRANSACTION] } }
}
