/**
 * How full the queues and pools of a thread are, for whoever runs the service. Each registers once
 * how it is read, and is read when somebody looks: nothing is paid for where work passes.
 */
export interface Meter {
  queue(name: MeteredQueue, read: () => QueueReading): void
  /** @returns what takes milliseconds down: two additions in memory of the thread's own */
  latency(name: MeteredLatency): (elapsedMs: number) => void
}

/** For whoever shows nothing. */
export const NO_METER: Meter = { queue() {}, latency: () => () => {} }

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

/**
 * How long the parts of the money path take. `signing` is all of a signature, as a wallet waits for
 * it; of its batch, `approval` is the identity provider's answer and `joining` all that follows, the
 * quorum signer's above all. `commit` is one synced write of the store, `broadcast` from a
 * transaction's signature to the first node that took it, `confirmation` to its depth.
 */
export const METERED_LATENCIES = [
  'signing',
  'approval',
  'joining',
  'commit',
  'broadcast',
  'confirmation',
] as const
export type MeteredLatency = (typeof METERED_LATENCIES)[number]

export interface QueueReading {
  readonly length: number
  /** How long one of those that left lately had waited; of callers, the oldest there is. */
  readonly waitMs: number
  /** Turned away since the start, since the queue was full. */
  readonly dropped: number
}

/** A queue of all threads: what waits in all of them, and the longest wait of any. */
export interface QueueTotal extends QueueReading {
  readonly queue: MeteredQueue
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
