/**
 * The readings of a thread's queues and pools, for operators. Each registers a reader once and is
 * read on demand, so the work itself pays nothing for it.
 */
export interface Meter {
  queue(name: MeteredQueue, read: () => QueueReading): void
  /**
   * @returns a function that records milliseconds, with two additions in the thread's own memory
   */
  latency(name: MeteredLatency): (elapsedMs: number) => void
}

/** A meter that records nothing. */
export const NO_METER: Meter = { queue() {}, latency: () => () => {} }

/**
 * `callers` wait for actors' replies, `walks` for the screening of large calldata, `signing` for a
 * place in a batch, `signature_checks` for the pool's answer on a whole batch (dropped: checked in
 * this thread, since the pool failed). The `outbox` holds what is posted to other threads at the
 * end of the tick; it drops nothing, because its sources have bounds of their own.
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
 * How long the parts of the money path take. `signing` is a whole signature, as a wallet waits for
 * it; within its batch, `approval` is the identity provider's answer and `joining` everything after
 * it, mostly the quorum signer's part. `commit` is one synced write of the store, `broadcast` the
 * time from a transaction's signature to the first node that took it, `confirmation` the time to
 * its depth.
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
  /** How long a recent item had waited; for callers, the present wait of the oldest. */
  readonly waitMs: number
  /** The number dropped since the start because the queue was full. */
  readonly dropped: number
}

/** A queue over all threads: the sum of what waits and the longest wait. */
export interface QueueTotal extends QueueReading {
  readonly queue: MeteredQueue
}

/**
 * Samples the wait of a first-in-first-out queue by following one item at a time: the clock is read
 * twice for each followed item, and never for the others.
 */
export class WaitSample {
  readonly #elapsed: () => number
  #entered = 0
  #left = 0
  /** The followed item's number among all that ever entered; 0 when no item is followed. */
  #followed = 0
  #sinceMs = 0
  #waitMs = 0

  /** @param elapsed milliseconds of a monotonic clock */
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
