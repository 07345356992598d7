import type { Timers } from '../../clock/timers.js'
import type { Hex } from '../../domain/ids.js'
import type { BroadcastOutcome } from './broadcast-outcome.js'
import type { Transport } from './transport.js'

/** Calls per HTTP request: the batch limit of geth and of most providers is 100 to 1,000. */
export const BATCH_MAX = 100

/** One JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
  /**
   * The `eth_call` goes to an address that is known to have code: an empty result is not an answer.
   */
  readonly hasCode?: true
}

/** One call of a view. */
interface ViewCall extends RpcCall {
  /** When the node no longer keeps the state that the call needs, its result is null. */
  readonly mayBePruned?: true
}

export type RpcResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }

/** One endpoint's results, in the order of the calls. */
export type View = readonly unknown[]

/**
 * A chain's nodes as one client. Calls made in the same tick share an HTTP request; reads fail over
 * and are hedged, so they must have no effect on the chain. Effects go through
 * `sendRawTransaction`.
 */
export interface RpcClient {
  readonly chainId: number
  /**
   * Makes one read. `T` is the caller's claim about the shape; check what money depends on.
   * @throws RpcCallError the node's own error
   * @throws FaultError CHAIN_UNAVAILABLE when no endpoint answers, OVERLOADED when the queue is
   * full
   */
  request<T>(method: string, params: readonly unknown[]): Promise<T>
  /**
   * Makes one read for which only some endpoints are trusted, in an HTTP request of its own. It
   * fails over among those for which `mayAsk` holds when it is sent, and throws as `request` does.
   */
  requestOf<T>(
    mayAsk: (endpoint: RpcEndpoint) => boolean,
    method: string,
    params: readonly unknown[],
  ): Promise<T>
  /** Makes several reads; one failing does not fail the others. Same order as `calls`. */
  batch(calls: readonly RpcCall[]): Promise<RpcResult[]>
  /**
   * Each endpoint's own view: all calls go to every usable endpoint in one request, and an endpoint
   * that does not answer all of them is left out. It is for proofs, which cannot be combined from
   * several nodes. Never rejects; empty when no endpoint answered all, or too many requests wait.
   * @param isEnough uses one endpoint after another instead, until one view is enough
   */
  views(calls: readonly ViewCall[], isEnough?: (view: View) => boolean): Promise<readonly View[]>
  /** Hands signed bytes to the chain. Never rejects: the outcome says what is known. */
  sendRawTransaction(raw: Hex): Promise<BroadcastOutcome>
  /**
   * Sends signed bytes to every usable endpoint, when one has accepted them and no block has them:
   * a node that accepts and forgets, or never passes them on, must not keep them from the chain.
   * Never rejects.
   */
  sendEverywhere(raw: Hex): Promise<SpreadOutcome>
  /** All endpoints in order of preference, with their present state. */
  endpoints(): readonly RpcEndpoint[]
  /** Endpoints that would be used now, for readiness checks. */
  healthyEndpoints(): number
  /** Ends connections; calls still waiting fail with CHAIN_UNAVAILABLE. */
  close(): Promise<void>
}

/** The combined outcome of the same bytes at all endpoints. */
export interface SpreadOutcome {
  /** True when at least one endpoint reports that it holds them. */
  readonly isTaken: boolean
  readonly isNonceTooLow: boolean
  /** The outcome at the other endpoints, when that matters. */
  readonly otherwise: BroadcastOutcome
}

export interface RpcEndpoint {
  /** Its place in the configuration and its host, without its path; unique in the chain. */
  readonly label: string
  /** Grows with every outage, because another node may answer afterwards. */
  readonly incarnation: number
}

/** `label` names an endpoint by its place in the configuration and its host, without its path. */
export interface RpcMetrics {
  httpRequest(label: string, outcome: HttpOutcome, durationMs: number, calls: number): void
  hedged(label: string): void
  breakerOpened(label: string): void
  breakerClosed(label: string): void
  /**
   * The endpoint named another chain, or none (`doubted`), did so again and named a real one
   * (`wrong`), or names its own again (`right`). `got` is its answer.
   */
  chainId(label: string, said: ChainIdNews, got: string): void
  /** A call was refused because the queue was full. */
  overflow(kind: 'read' | 'send'): void
  broadcast(label: string, outcome: BroadcastOutcome['kind']): void
  /** Registers a queue and its reader. */
  queue(kind: 'read' | 'send', read: () => QueueReading): void
}

export interface QueueReading {
  readonly length: number
  /** The wait of a call that left recently. */
  readonly waitMs: number
}

export type ChainIdNews = 'doubted' | 'wrong' | 'right'

export type HttpOutcome = 'ok' | 'rate-limited' | 'refused' | 'unsent' | 'unanswered'

export interface RpcClientOptions {
  readonly chainId: number
  /** In order of preference; the first healthy one is used. */
  readonly endpoints: readonly string[]
  /** The longest wait for one HTTP answer, milliseconds. */
  readonly timeoutMs?: number
  /** The most reads that wait for a slot; further ones are refused at once. */
  readonly queuedReadsMax?: number
  readonly queuedSendsMax?: number
  readonly metrics?: RpcMetrics
  /** Absent to use this process's. */
  readonly timers?: Timers
  /** Connects to the endpoint of a URL; absent to use HTTP. */
  readonly transportTo?: (url: string) => Transport
}

export const NO_METRICS: RpcMetrics = {
  httpRequest() {},
  hedged() {},
  breakerOpened() {},
  breakerClosed() {},
  chainId() {},
  overflow() {},
  broadcast() {},
  queue() {},
}
