import type {
  ConsoleInput,
  ConsoleOperationName,
  ConsoleOutput,
} from '../api/console-operations.js'
import type { OperationInput, OperationName, OperationOutput } from '../api/operations.js'
import type { TransactionView } from '../api/transaction.js'
import { type CallOptions, type Input, request, type Transport } from './request.js'
import { AGENT_ROUTES, CONSOLE_ROUTES, type Route } from './routes.js'
import { type Transfer, transferCall } from './transfer.js'
import { UNTIL, type WaitOptions, waitForTransaction } from './wait-for-transaction.js'

/**
 * The typed client, with a method for each row of the operations tables. It needs only `fetch` and
 * WebCrypto, so it runs in Node, Deno, Bun and browsers alike.
 */

/** send_transaction → sendTransaction */
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S

/** An operation without required fields may be called without an input. */
type Method<I, O> =
  Record<string, never> extends I
    ? (input?: I, options?: CallOptions) => Promise<O>
    : (input: I, options?: CallOptions) => Promise<O>

export type AgentMethods = {
  readonly [N in OperationName as CamelCase<N>]: Method<OperationInput<N>, OperationOutput<N>>
}

export type ConsoleMethods = {
  readonly [N in ConsoleOperationName as CamelCase<N>]: Method<ConsoleInput<N>, ConsoleOutput<N>>
}

export interface Client extends AgentMethods {
  /** Calls the operation of that name, if it is known only at run time. */
  call(name: OperationName, input: Input, options?: CallOptions): Promise<Answer>
  /**
   * Sends and waits, until no person has to decide (`decided`: it is signed, was declined, has
   * expired or was withdrawn), or until its status is final (`final`).
   * @throws WaitTimeoutError if it is still under way; its `txId` names the transaction
   */
  send(input: OperationInput<'send_transaction'>, options: SendOptions): Promise<TransactionView>
  /**
   * Sends an amount of a token, or of the native currency: `{chain: 'base', token: 'USDC', to,
   * amount: '5'}`. Returns what `sendTransaction` returns.
   * @throws TypeError if a chain, token, address or amount cannot be resolved; nothing was sent
   */
  transfer(transfer: Transfer, options?: CallOptions): Promise<TransactionView>
  /**
   * Polls until a call that waits for approval is signed, declined, expired or withdrawn. The
   * person who approves it may take longer than the default time.
   */
  waitForApproval(txId: string, options?: WaitOptions): Promise<TransactionView>
  /**
   * Polls until the transaction's status is final: confirmed, failed, dropped or never approved.
   */
  waitForTransaction(txId: string, options?: WaitOptions): Promise<TransactionView>
}

export interface SendOptions extends CallOptions, Omit<WaitOptions, 'signal'> {
  readonly until: keyof typeof UNTIL
}

type Answer = Readonly<Record<string, unknown>>

export type ConsoleClient = ConsoleMethods

export interface ConnectionOptions {
  /** URL of the service, such as `https://wallet.example.com`. */
  readonly url: string
  /** Repetitions of a failed attempt. Default 3. */
  readonly retriesMax?: number
  /** Time for one attempt. Default 30,000. */
  readonly timeoutMs?: number
  /** Defaults to the platform's. */
  readonly fetch?: typeof fetch
}

export interface ClientOptions extends ConnectionOptions {
  /**
   * `sk_test_…` or `sk_live_…`. `undefined` is refused at once, so that an unset variable is
   * noticed.
   */
  readonly apiKey: string | undefined
}

export interface ConsoleClientOptions extends ConnectionOptions {
  /** A JWT of the identity provider. `undefined` is refused at once. */
  readonly token: string | undefined
  /** A trade key, used only for `revokeAllowances`. */
  readonly apiKey?: string
}

const RETRIES_MAX = 3
const TIMEOUT_MS = 30_000

/**
 * A client for agents, with the permissions of an API key.
 * @throws TypeError if there is no API key
 */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options, { 'x-api-key': required('apiKey', options.apiKey) })
  const methods = methodsOf(AGENT_ROUTES, transport) as unknown as AgentMethods
  const poll = (id: string, signal: AbortSignal | undefined) =>
    methods.getTransactionStatus({ tx_id: id }, signal === undefined ? {} : { signal })
  return {
    ...methods,
    call: async (name, input, options = {}) =>
      (await request(transport, AGENT_ROUTES[name], input, options)) as Answer,
    async send(input, { until, ...options }) {
      const record = await methods.sendTransaction(input, options)
      if (UNTIL[until](record)) return record
      return waitForTransaction(poll, record.tx_id, UNTIL[until], options)
    },
    async transfer(transfer, callOptions = {}) {
      const signal = callOptions.signal === undefined ? {} : { signal: callOptions.signal }
      const call = await transferCall(transfer, {
        chains: () => methods.getSupportedChains({}, signal),
        native: (chain_id) => methods.getNativeBalance({ chain_id }, signal),
        tokens: (chain_id) => methods.getTokenBalances({ chain_id }, signal),
      })
      return methods.sendTransaction(call, callOptions)
    },
    waitForApproval: (txId, wait) => waitForTransaction(poll, txId, UNTIL.decided, wait),
    waitForTransaction: (txId, wait) => waitForTransaction(poll, txId, UNTIL.final, wait),
  }
}

/**
 * A client for owners: wallets, keys and webhooks.
 * @throws TypeError if there is no token
 */
export function createConsoleClient(options: ConsoleClientOptions): ConsoleClient {
  const transport = transportOf(options, {
    authorization: `Bearer ${required('token', options.token)}`,
    ...(options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey }),
  })
  return methodsOf(CONSOLE_ROUTES, transport) as unknown as ConsoleClient
}

function required(name: string, value: string | undefined): string {
  if (value !== undefined && value !== '') return value
  throw new TypeError(`${name} is missing. Set the environment variable that it is read from.`)
}

function transportOf(
  options: ConnectionOptions,
  headers: Readonly<Record<string, string>>,
): Transport {
  return {
    baseUrl: options.url.replace(/\/+$/, ''),
    headers,
    // Called through a closure, because a browser's fetch refuses to run as a method of another
    // object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    retriesMax: options.retriesMax ?? RETRIES_MAX,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
  }
}

function methodsOf(routes: Readonly<Record<string, Route>>, transport: Transport) {
  return Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [
      name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase()),
      (input: Input = {}, options: CallOptions = {}) => request(transport, route, input, options),
    ]),
  )
}
