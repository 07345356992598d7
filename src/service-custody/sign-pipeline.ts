import type { Timers } from '../clock/timers.js'
import { type Meter, NO_METER, type QueueReading, WaitSample } from '../domain/meter.js'
import { Unanswered } from '../quorum-protocol/client.js'
import {
  BATCH_BYTES_MAX,
  BATCH_INTENTS_MAX,
  BATCHES_IN_FLIGHT,
  FULL_BATCHES_IN_FLIGHT_MAX,
} from '../quorum-protocol/limits.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import { codeOf, Refusal } from '../quorum-protocol/refusal.js'
import type { SignOutcome } from './co-signer.js'
import { failed, unavailable } from './outcome.js'
import {
  completeBatch,
  coSignBatch,
  type PreparedIntent,
  type SignBatchContext,
} from './sign-batch.js'

/**
 * Collects intents into batches without a timer. Intents that arrive while both slots are taken
 * share the next batch, which leaves when a slot is free or the batch is full. A single intent
 * never waits.
 */
export interface SignPipeline {
  sign(intent: PreparedIntent): Promise<SignOutcome>
  /** Answers the waiting intents that match. */
  refuse(fits: (intent: PreparedIntent) => boolean, outcome: SignOutcome): void
  /** Answers every waiting intent with UNAVAILABLE. */
  abandon(detail: string): void
  readonly waiting: number
  /** How full the queue is; `dropped` counts intents that found it full. */
  read(): QueueReading
  /** The latest batch that came back approved; 0 before the first. */
  readonly approvedSeq: number
}

interface SignPipelineOptions {
  readonly timers: Pick<Timers, 'now' | 'elapsed' | 'soon'>
  /** What a batch needs now; null while the quorum is incomplete. */
  readonly context: () => SignBatchContext | null
  /** Called when an answer shows that the sessions are no longer valid. */
  readonly onStaleSession: () => void
  readonly onFault: (error: unknown) => void
  /** Records how long signatures take. */
  readonly meter?: Pick<Meter, 'latency'>
}

/** More than two seconds of work at full speed; later callers are better refused at once. */
const WAITING_MAX = 8_192

/** Batch errors after which sessions and sequence are made again. */
const STALE_SESSION = new Set(['NO_SESSION', 'REPLAYED', 'UNAUTHENTIC', 'FENCED'])

interface Waiting {
  readonly intent: PreparedIntent
  /** Read from a monotonic clock. */
  readonly sinceMs: number
  readonly resolve: (outcome: SignOutcome) => void
}

export function createSignPipeline(options: SignPipelineOptions): SignPipeline {
  const { timers } = options
  let waiting: Waiting[] = []
  let dropped = 0
  const wait = new WaitSample(timers.elapsed)
  const { meter = NO_METER } = options
  const took = {
    signing: meter.latency('signing'),
    approval: meter.latency('approval'),
    joining: meter.latency('joining'),
  }
  let inFlight = 0
  let batchSeq = 0
  let approvedSeq = 0
  let scheduled = false
  /**
   * Settles when the previous batch has been sent: the identity provider accepts sequences only in
   * order.
   */
  let lastSent: Promise<unknown> = Promise.resolve()

  function schedule(): void {
    if (scheduled || !mayLeave()) return
    scheduled = true
    // Flushes after messages that have already arrived are read, so that they share the batch.
    timers.soon(flush)
  }

  function mayLeave(): boolean {
    if (inFlight < BATCHES_IN_FLIGHT) return waiting.length > 0
    return inFlight < FULL_BATCHES_IN_FLIGHT_MAX && waiting.length >= BATCH_INTENTS_MAX
  }

  function flush(): void {
    scheduled = false
    while (mayLeave()) {
      const batch = takeBatch()
      inFlight++
      void run(batch).then(() => {
        inFlight--
        schedule()
      })
    }
  }

  function takeBatch(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { intent } of waiting) {
      bytes += intent.payload.length
      if (count === BATCH_INTENTS_MAX || (count > 0 && bytes > BATCH_BYTES_MAX)) break
      count++
    }
    const batch = waiting.slice(0, count)
    waiting = waiting.slice(count)
    wait.left(count)
    return batch
  }

  async function run(batch: readonly Waiting[]): Promise<void> {
    const outcomes = await signAll(batch.map(({ intent }) => intent))
    const nowMs = timers.elapsed()
    batch.forEach(({ resolve, sinceMs }, index) => {
      const outcome = outcomes[index] ?? failed('INTERNAL')
      if (outcome.ok) took.signing(nowMs - sinceMs)
      resolve(outcome)
    })
  }

  async function signAll(intents: readonly PreparedIntent[]): Promise<SignOutcome[]> {
    const context = options.context()
    if (context === null) return intents.map(() => unavailable('quorum incomplete'))
    try {
      // A new session has a new lane, above all earlier ones.
      batchSeq = Math.max(batchSeq, context.session.batchFloor) + 1
      const sequence = batchSeq
      const sent = lastSent.then(async () => {
        const coSigned = await coSignBatch(intents, sequence, context)
        const approved = askUserSide(context.link.userSide, 'approve', coSigned)
        // Keeps a rejection from counting as unhandled before it is awaited below.
        approved.catch(() => {})
        return { coSigned, approved }
      })
      lastSent = sent.catch(() => {})
      const { coSigned, approved } = await sent
      const sentAtMs = timers.elapsed()
      const answer = await approved
      const approvedAtMs = timers.elapsed()
      took.approval(approvedAtMs - sentAtMs)
      if (answer.bitmap !== 0) approvedSeq = Math.max(approvedSeq, sequence)
      const outcomes = await completeBatch(intents, coSigned, answer, context)
      took.joining(timers.elapsed() - approvedAtMs)
      return outcomes
    } catch (error) {
      if (error instanceof Unanswered) return intents.map(() => unavailable(error.message))
      if (error instanceof Refusal && STALE_SESSION.has(error.code)) options.onStaleSession()
      else options.onFault(error)
      const code = codeOf(error)
      return intents.map(() => (code === 'FENCED' ? failed(code) : unavailable(code)))
    }
  }

  return {
    sign(intent) {
      if (waiting.length >= WAITING_MAX) {
        dropped++
        return Promise.resolve(unavailable('queue full'))
      }
      return new Promise((resolve) => {
        waiting.push({ intent, sinceMs: timers.elapsed(), resolve })
        wait.entered()
        schedule()
      })
    },
    refuse(fits, outcome) {
      const refused = waiting.filter(({ intent }) => fits(intent))
      if (refused.length === 0) return
      wait.left(refused.length)
      waiting = waiting.filter(({ intent }) => !fits(intent))
      for (const { resolve } of refused) resolve(outcome)
    },
    abandon(detail) {
      const abandoned = waiting
      waiting = []
      wait.left(abandoned.length)
      for (const { resolve } of abandoned) resolve(unavailable(detail))
    },
    get approvedSeq() {
      return approvedSeq
    },
    get waiting() {
      return waiting.length
    },
    read: () => ({ length: waiting.length, waitMs: wait.waitMs, dropped }),
  }
}
