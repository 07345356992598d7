import type {
  ConsoleInput,
  ConsoleOperationName,
  ConsoleOutput,
} from '../api/console-operations.js'
import type { OperationInput, OperationName, OperationOutput } from '../api/operations.js'
import type { TransactionView } from '../api/transaction.js'
import { type CallOptions, type Input, request, type Transport } from './request.js'
import { AGENT_ROUTES, CONSOLE_ROUTES, type Route } from './routes.js'
import { UNTIL, type WaitOptions, waitForTransaction } from './wait-for-transaction.js'

/**
 * The typed client: a method for each row of the operations tables. Needs `fetch` and WebCrypto and
 * nothing else, so that it runs in Node, Deno, Bun and browsers alike.
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
  /** The operation of that name, where it is known only when the program runs. */
  call(name: OperationName, input: Input, options?: CallOptions): Promise<Answer>
  /**
   * Sends, and waits: until nobody has to be asked about it any more (`decided`: it is signed, or was
   * declined, has expired or was withdrawn), or until nothing more becomes of it (`final`).
   * @throws WaitTimeoutError when it is still under way; its `txId` names what goes on
   */
  send(input: OperationInput<'send_transaction'>, options: SendOptions): Promise<TransactionView>
  /**
   * Asks until a call that waits for approval is signed, declined, expired or withdrawn. Whoever
   * approves it may take longer than the default time.
   */
  waitForApproval(txId: string, options?: WaitOptions): Promise<TransactionView>
  /** Asks until nothing more becomes of the transaction: confirmed, failed, dropped or never approved. */
  waitForTransaction(txId: string, options?: WaitOptions): Promise<TransactionView>
}

export interface SendOptions extends CallOptions, Omit<WaitOptions, 'signal'> {
  readonly until: keyof typeof UNTIL
}

type Answer = Readonly<Record<string, unknown>>

export type ConsoleClient = ConsoleMethods

export interface ConnectionOptions {
  /** Where the service is, such as `https://wallet.example.com`. */
  readonly url: string
  /** Repetitions of a failed attempt. Default 3. */
  readonly retriesMax?: number
  /** Of one attempt. Default 30,000. */
  readonly timeoutMs?: number
  /** Default: the platform's. */
  readonly fetch?: typeof fetch
}

export interface ClientOptions extends ConnectionOptions {
  /** `sk_test_…` or `sk_live_…` */
  readonly apiKey: string
}

export interface ConsoleClientOptions extends ConnectionOptions {
  /** A JWT of the identity provider. */
  readonly token: string
  /** A trade key, for `revokeAllowances` alone. */
  readonly apiKey?: string
}

const RETRIES_MAX = 3
const TIMEOUT_MS = 30_000

/** For agents: what an API key may do. */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options, { 'x-api-key': options.apiKey })
  const methods = methodsOf(AGENT_ROUTES, transport) as unknown as AgentMethods
  const look = (id: string, signal: AbortSignal | undefined) =>
    methods.getTransactionStatus({ tx_id: id }, signal === undefined ? {} : { signal })
  return {
    ...methods,
    call: async (name, input, options = {}) =>
      (await request(transport, AGENT_ROUTES[name], input, options)) as Answer,
    async send(input, { until, ...options }) {
      const record = await methods.sendTransaction(input, options)
      if (UNTIL[until](record)) return record
      return waitForTransaction(look, record.tx_id, UNTIL[until], options)
    },
    waitForApproval: (txId, wait) => waitForTransaction(look, txId, UNTIL.decided, wait),
    waitForTransaction: (txId, wait) => waitForTransaction(look, txId, UNTIL.final, wait),
  }
}

/** For owners: wallets, keys and webhooks. */
export function createConsoleClient(options: ConsoleClientOptions): ConsoleClient {
  const transport = transportOf(options, {
    authorization: `Bearer ${options.token}`,
    ...(options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey }),
  })
  return methodsOf(CONSOLE_ROUTES, transport) as unknown as ConsoleClient
}

function transportOf(
  options: ConnectionOptions,
  headers: Readonly<Record<string, string>>,
): Transport {
  return {
    baseUrl: options.url.replace(/\/+$/, ''),
    headers,
    // Called through a closure: a browser's fetch refuses to run as a method of another object.
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
