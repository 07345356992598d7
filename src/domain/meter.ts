/**
 * How full the queues and pools of a thread are, for whoever runs the service. Each registers once
 * how it is read, and is read when somebody looks: nothing is paid for where work passes.
 */
export interface Meter {
  queue(name: MeteredQueue, read: () => QueueReading): void
  count(name: MeteredCount, read: () => number): void
}

/** For whoever shows nothing. */
export const NO_METER: Meter = { queue() {}, count() {} }

/**
 * `callers` wait for actors' replies, `walks` for the screening of large calldata, `signing` for a
 * place in a batch, `signature_checks` for the pool's answer on a whole batch (dropped: checked in
 * this thread, since the pool failed). The `outbox` holds what is posted to other threads at the
 * end of the tick; it turns nothing away, since what fills it has bounds of its own.
 */
export const METERED_QUEUES = [
  'mailbox',
  'callers',
  'walks',
  'rpc_reads',
  'rpc_sends',
  'signing',
  'signature_checks',
  'outbox',
] as const
export type MeteredQueue = (typeof METERED_QUEUES)[number]

/** HTTP requests to nodes by their outcome, and what became of the endpoints. */
export const METERED_COUNTS = [
  'rpc_ok',
  'rpc_rate_limited',
  'rpc_refused',
  'rpc_unsent',
  'rpc_unanswered',
  'rpc_hedged',
  'rpc_breakers_opened',
  'rpc_breakers_closed',
  'rpc_wrong_chain_ids',
] as const
export type MeteredCount = (typeof METERED_COUNTS)[number]

export interface QueueReading {
  readonly length: number
  /** How long one of those that left lately had waited; of callers, the oldest there is. */
  readonly waitMs: number
  /** Turned away since the start, since the queue was full. */
  readonly dropped: number
}

/**
 * How long a first-in-first-out queue lets wait, by one item at a time: the clock is read twice for
 * each that is followed, and never for the others.
 */
export class WaitSample {
  readonly #elapsed: () => number
  #entered = 0
  #left = 0
  /** The one that is followed, by its place among all that ever entered; 0: none is. */
  #followed = 0
  #sinceMs = 0
  #waitMs = 0

  /** @param elapsed milliseconds of a clock that nobody sets */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  get waitMs(): number {
    return this.#waitMs
  }

  entered(): void {
    this.#entered++
    if (this.#followed !== 0) return
    this.#followed = this.#entered
    this.#sinceMs = this.#elapsed()
  }

  left(count = 1): void {
    this.#left += count
    if (this.#followed === 0 || this.#left < this.#followed) return
    this.#waitMs = this.#elapsed() - this.#sinceMs
    this.#followed = 0
  }
}
