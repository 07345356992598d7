import type { Timers } from '../../clock/timers.js'
import type { Hex } from '../../domain/ids.js'
import type { BroadcastOutcome } from './broadcast-outcome.js'
import type { Transport } from './transport.js'

/** One JSON-RPC call. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** One of a view's. */
export interface ViewCall extends RpcCall {
  /** Where the node keeps the state no more that it is asked of, null is what it sees. */
  readonly mayBePruned?: true
}

export type RpcResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }

/** One endpoint's results, in the order of the calls. */
export type View = readonly unknown[]

/**
 * A chain's nodes as one. Calls made in the same tick share an HTTP request; reads fail over and
 * are hedged, so they must have no effect on the chain. Effects go through `sendRawTransaction`.
 */
export interface RpcClient {
  readonly chainId: number
  /**
   * One read. `T` is the caller's claim about the shape; check what money depends on.
   * @throws RpcCallError the node's own error
   * @throws FaultError CHAIN_UNAVAILABLE when no endpoint answers, OVERLOADED when the queue is full
   */
  request<T>(method: string, params: readonly unknown[]): Promise<T>
  /**
   * One read that only some endpoints can be trusted with, by itself in its HTTP request. Fails
   * over among those for which `mayAsk` holds when it is sent, and throws as `request` does.
   */
  requestOf<T>(
    mayAsk: (endpoint: RpcEndpoint) => boolean,
    method: string,
    params: readonly unknown[],
  ): Promise<T>
  /** Several reads; one failing does not fail the others. Same order as `calls`. */
  batch(calls: readonly RpcCall[]): Promise<RpcResult[]>
  /**
   * What each endpoint sees by itself: all calls go to every usable one in one request, and one
   * that does not answer all of them is left out. For proofs, which parts from several nodes do
   * not make. Never rejects; empty when no endpoint answered all, or too much waits.
   * @param isEnough asks one endpoint after another instead, until what one sees is enough
   */
  views(calls: readonly ViewCall[], isEnough?: (view: View) => boolean): Promise<readonly View[]>
  /** Hands signed bytes to the chain. Never rejects: the outcome says what is known. */
  sendRawTransaction(raw: Hex): Promise<BroadcastOutcome>
  /**
   * Hands signed bytes to every usable endpoint, for what one has taken and no block has: a node
   * that takes and forgets, or never passes on, must not keep it from the chain. Never rejects.
   */
  sendEverywhere(raw: Hex): Promise<SpreadOutcome>
  /** All of them in order of preference, as they are now. */
  endpoints(): readonly RpcEndpoint[]
  /** Endpoints that would be asked now, for readiness checks. */
  healthyEndpoints(): number
  /** Ends connections; calls still waiting fail with CHAIN_UNAVAILABLE. */
  close(): Promise<void>
}

/** What all endpoints said together of the same bytes. */
export interface SpreadOutcome {
  /** One at least says that it holds them. */
  readonly isTaken: boolean
  readonly isNonceTooLow: boolean
  /** What the rest come to, where that is of interest. */
  readonly otherwise: BroadcastOutcome
}

export interface RpcEndpoint {
  /** Its place in the configuration and its host, without its path; unique in the chain. */
  readonly label: string
  /** Grows with every outage: what answers afterwards may be another node. */
  readonly incarnation: number
}

/** `label` names an endpoint by its place in the configuration and its host, without its path. */
export interface RpcMetrics {
  httpRequest(label: string, outcome: HttpOutcome, durationMs: number, calls: number): void
  hedged(label: string): void
  breakerOpened(label: string): void
  breakerClosed(label: string): void
  /** The endpoint serves another chain and is out until restart. Page someone. */
  wrongChainId(label: string, got: string): void
  /** A call was turned away because the queue was full. */
  overflow(kind: 'read' | 'send'): void
  broadcast(label: string, outcome: BroadcastOutcome['kind']): void
  /** A queue that there is from now on, and how it is read. */
  queue(kind: 'read' | 'send', read: () => QueueReading): void
}

export interface QueueReading {
  readonly length: number
  /** How long one that left lately had waited. */
  readonly waitMs: number
}

export type HttpOutcome = 'ok' | 'rate-limited' | 'refused' | 'unsent' | 'unanswered'

export interface RpcClientOptions {
  readonly chainId: number
  /** In order of preference; the first healthy one is asked. */
  readonly endpoints: readonly string[]
  /** Longest wait for one HTTP answer, milliseconds. */
  readonly timeoutMs?: number
  /** Reads waiting for a slot; more are turned away at once. */
  readonly queuedReadsMax?: number
  readonly queuedSendsMax?: number
  readonly metrics?: RpcMetrics
  /** Absent: those of this process. */
  readonly timers?: Timers
  /** How the endpoint of a URL is reached; absent: by HTTP. */
  readonly transportTo?: (url: string) => Transport
}

export const NO_METRICS: RpcMetrics = {
  httpRequest() {},
  hedged() {},
  breakerOpened() {},
  breakerClosed() {},
  wrongChainId() {},
  overflow() {},
  broadcast() {},
  queue() {},
}
