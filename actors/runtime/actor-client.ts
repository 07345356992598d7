import type { Worker } from 'node:worker_threads'
import type { ChainHead } from '../../src/chains/heads.js'
import type { Timers } from '../../src/clock/timers.js'
import type { Freeze } from '../../src/domain/freeze.js'
import type { UserId } from '../../src/domain/ids.js'
import type { Meter } from '../../src/domain/meter.js'
import { fault } from '../../src/errors/fault.js'
import { type NoReply, outcomeUnknown } from '../../src/errors/outcome-unknown.js'
import type { Actors } from '../protocols.js'
import type { ActorAddress, AskResult, ReplyToken } from './actor.js'
import { Outbox } from './outbox.js'
import type {
  EncodedEnvelope,
  EncodedReply,
  FromWorker,
  StepReport,
  ToWorker,
  WorkerBegin,
  WorkerItem,
} from './protocol.js'
import { workerOf } from './routing.js'
import type { WorkerThreads } from './worker-threads.js'

/**
 * The main thread's end of the actor system: it sends commands to the thread that owns an actor and
 * hands back replies. Commands of one tick travel in one message per worker.
 */
export interface ActorClient extends Actors {
  /** The number of callers that wait for a reply. */
  readonly waiting: number
  close(): Promise<void>
}

interface ActorClientOptions {
  readonly threads: WorkerThreads
  readonly begin: WorkerBegin
  readonly timers: Timers
  readonly meter: Meter
  readonly onKeyChanged: (secretHash: string) => void
  readonly onHead: (head: ChainHead) => void
  /**
   * Called with all freezes of a user that are in force, before the caller that changed them is
   * answered.
   */
  readonly onFreezes: (userId: UserId, standing: readonly Freeze[]) => void
  /** Set when commits go to a journal: resolves once it and the store have these rows. */
  readonly onCommit?: (rows: Uint8Array) => Promise<void>
  /** Whether commits wait for a journal that does not answer. Default: never. */
  readonly isHeldUp?: () => boolean
  /** Set when traces are collected. */
  readonly onStep?: (report: StepReport) => void
  /** Called when a commit failed: the process must restart. */
  readonly onFatal: (error: unknown) => void
}

/** The most callers that wait at once; beyond this the answer is OVERLOADED and nothing is sent. */
const WAITING_MAX = 20_000

/** A reply that takes longer is given up; what was reserved or signed continues by itself. */
export const ASK_TIMEOUT_MS = 60_000
/**
 * The same limit while commits are held up. It is shorter than the timeouts of most callers and
 * proxies, and than the drain time at shutdown, so that callers receive what is known.
 */
const HELD_UP_MS = 8_000
/** The interval between two checks for overdue callers. */
const SWEEP_MS = 1_000

interface Waiting {
  readonly resolve: (result: AskResult<never>) => void
  /** In the time of `elapsed`. */
  readonly sinceMs: number
}

export async function startActors(options: ActorClientOptions): Promise<ActorClient> {
  const { timers } = options
  const waiting = new Map<ReplyToken, Waiting>()
  let lastToken = 0
  let refused = 0
  let closing = false

  const workers = options.threads.workers.map((worker) => {
    const outbox = new Outbox<EncodedEnvelope>(timers, (envelopes) => {
      worker.postMessage({ type: 'envelopes', envelopes } satisfies ToWorker)
    })
    return { worker, outbox }
  })

  function send(address: ActorAddress, token: ReplyToken | null, command: unknown): void {
    const worker = workers[workerOf(address, workers.length)]
    worker?.outbox.push([address.kind, address.id, token, command])
  }

  function settle([token, result]: EncodedReply): void {
    const caller = waiting.get(token)
    waiting.delete(token)
    // Each actor answers by its protocol; here an answer of any type may pass.
    caller?.resolve(result as AskResult<never>)
  }

  function take(item: WorkerItem): void {
    switch (item.type) {
      case 'envelope':
        send(item.envelope, item.envelope.token, item.envelope.command)
        break
      case 'key-changed':
        options.onKeyChanged(item.secretHash)
        break
      case 'head':
        options.onHead(item.head)
        break
      case 'step':
        options.onStep?.(item.report)
        break
      case 'freezes':
        options.onFreezes(item.userId, item.standing)
        for (const { worker } of workers) worker.postMessage(item satisfies ToWorker)
        break
    }
  }

  function commit(worker: Worker, rows: Uint8Array): void {
    const committed = () => worker.postMessage({ type: 'committed' } satisfies ToWorker)
    options.onCommit?.(rows).then(committed, options.onFatal)
  }

  /** Tokens count upwards, so the oldest callers come first. */
  function sweep(): void {
    sweeper = timers.at(timers.now() + SWEEP_MS, sweep)
    const now = timers.elapsed()
    const isHeldUp = options.isHeldUp?.() === true
    for (const [token, { resolve, sinceMs }] of waiting) {
      const waitedMs = now - sinceMs
      const reason: NoReply = waitedMs < ASK_TIMEOUT_MS ? 'journal' : 'late'
      if (waitedMs < HELD_UP_MS || (reason === 'journal' && !isHeldUp)) return
      waiting.delete(token)
      resolve({ ok: false, fault: outcomeUnknown(reason) })
    }
  }
  let sweeper = timers.at(timers.now() + SWEEP_MS, sweep)

  for (const { worker } of workers) {
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'items') {
        for (const item of message.items) {
          if ('type' in item) take(item)
          else settle(item)
        }
      } else if (message.type === 'commit') commit(worker, message.rows)
    })
  }
  await options.threads.begin(options.begin)

  options.meter.queue('callers', () => {
    // Tokens count upwards, so the oldest caller comes first.
    const [oldest] = waiting.values()
    const waitMs = oldest === undefined ? 0 : timers.elapsed() - oldest.sinceMs
    return { length: waiting.size, waitMs, dropped: refused }
  })

  options.meter.queue('outbox', () => {
    const readings = workers.map(({ outbox }) => outbox.read())
    return {
      length: readings.reduce((sum, { length }) => sum + length, 0),
      waitMs: Math.max(0, ...readings.map(({ waitMs }) => waitMs)),
      dropped: 0,
    }
  })

  return {
    ask(address, command) {
      if (waiting.size >= WAITING_MAX || closing) {
        refused++
        return Promise.resolve({ ok: false, fault: fault('OVERLOADED') })
      }
      const token = ++lastToken
      return new Promise((resolve) => {
        waiting.set(token, { resolve, sinceMs: timers.elapsed() })
        send(address, token, command)
      })
    },
    tell(address, command) {
      send(address, null, command)
    },
    get waiting() {
      return waiting.size
    },
    async close() {
      closing = true
      sweeper.cancel()
      await options.threads.close()
    },
  }
}
