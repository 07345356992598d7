import { pack, unpack } from 'msgpackr'
import { isRepeatable } from '../../actors/webhook-endpoint/core/checkpoint.js'
import type {
  EndpointCommand,
  EventMeta,
  EventsAppendedCommand,
} from '../../actors/webhook-endpoint/core/commands.js'
import { decide } from '../../actors/webhook-endpoint/core/decide.js'
import type { EndpointEvent } from '../../actors/webhook-endpoint/core/events.js'
import { evolve } from '../../actors/webhook-endpoint/core/evolve.js'
import type { EndpointState } from '../../actors/webhook-endpoint/core/state.js'
import { fromStored, toStored } from '../../actors/webhook-endpoint/stored-state.js'
import type { EventType } from '../../src/domain/event-types.js'
import type { EventId, UserId, WebhookId } from '../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../src/domain/webhook.js'
import type { Result } from '../../src/errors/fault.js'

export const endpoint: WebhookEndpoint = {
  webhookId: 'we_1' as WebhookId,
  userId: 'user_1' as UserId,
  url: 'https://hook.example/',
  events: null,
  kind: 'webhook',
  description: null,
  status: 'enabled',
  createdAtMs: 0,
  secrets: [{ sealed: 'sealed_1', expiresAtMs: null }],
}

/** Steps of repeatable progress between two checkpoints. */
const UNSAVED_MAX = 5

interface Feed {
  readonly afterSeq: number
  readonly limit: number
  answer?: Omit<EventsAppendedCommand, 'type' | 'nowMs'>
}

interface Flight {
  readonly eventId: EventId
  readonly attemptId: number
}

/**
 * The shell in miniature: a log, a clock, a store that keeps only what was committed, and
 * receivers that answer when they are told to. Audits the order rule at every first attempt.
 */
export class EndpointSimulation {
  state: EndpointState | null = null
  nowMs = 1_000
  wakeAtMs: number | null = null
  /** As in the store; a crash goes back to it. */
  #saved: EndpointState | null = null
  #unsaved = 0
  readonly log: EventMeta[] = []
  readonly journal: EndpointEvent[] = []
  readonly flights: Flight[] = []
  readonly feeds: Feed[] = []
  /** Attempts started per event; outcomes per event. */
  readonly tries = new Map<EventId, number>()
  readonly results = new Map<EventId, string>()
  readonly failedOnce = new Set<EventId>()
  readonly deliveredInOrder: EventId[] = []

  send(command: EndpointCommand): Result<WebhookEndpoint> | undefined {
    const decision = decide(this.state, command)
    for (const event of decision.events) {
      this.#audit(event)
      this.state = evolve(this.state, event)
      this.journal.push(event)
    }
    // What is stored must come back as it was.
    if (decision.events.length > 0 && this.state !== null) {
      this.state = fromStored(unpack(pack(toStored(this.state))))
    }
    this.#unsaved = decision.events.every(isRepeatable) ? this.#unsaved + 1 : 0
    if (this.#unsaved === 0 || this.#unsaved > UNSAVED_MAX) this.#save()
    for (const effect of decision.effects) {
      if (effect.type === 'deliver') {
        this.flights.push({ eventId: effect.eventId, attemptId: effect.attemptId })
      } else if (effect.type === 'feed') this.feeds.push({ ...effect })
      else this.wakeAtMs = effect.atMs
    }
    return decision.reply
  }

  register(): void {
    this.send({ type: 'register', endpoint, cursor: this.log.length, nowMs: this.nowMs })
  }

  /** Appends to the log and, when `notice` says so, tells the actor of that one event. */
  append(
    laneKey: string | null,
    notice: 'told' | 'lost',
    type: EventType = 'transaction.confirmed',
  ) {
    const seq = this.log.length + 1
    const meta = { eventId: `evt_${seq}` as EventId, seq, type, laneKey }
    this.log.push(meta)
    if (notice === 'told') {
      const slice = { afterSeq: seq - 1, throughSeq: seq, events: [meta] }
      this.send({ type: 'events-appended', source: 'live', ...slice, nowMs: this.nowMs })
    }
    return meta.eventId
  }

  /** Reads the log for the oldest feed; what is appended before the answer is not in it. */
  readFeed(): void {
    const feed = this.feeds[0]
    if (feed === undefined || feed.answer !== undefined) return
    const events = this.log.slice(feed.afterSeq, feed.afterSeq + feed.limit)
    const throughSeq = events.at(-1)?.seq ?? feed.afterSeq
    const source = throughSeq === this.log.length ? 'feed-to-end' : 'feed'
    feed.answer = { source, afterSeq: feed.afterSeq, throughSeq, events }
  }

  answerFeed(): void {
    this.readFeed()
    const answer = this.feeds.shift()?.answer
    if (answer !== undefined) {
      this.send({ type: 'events-appended', ...answer, nowMs: this.nowMs })
    }
  }

  /** Ends the flight at this position (modulo their number). */
  finish(
    position: number,
    kind: 'delivered' | 'retry' | 'gone',
    jitter = 0.5,
    retryAfterMs = 0,
  ): void {
    const [flight] = this.flights.splice(position % Math.max(1, this.flights.length), 1)
    if (flight === undefined) return
    const status = { delivered: 200, retry: 500, gone: 410 }[kind]
    const error = kind === 'retry' ? 'answered 500' : null
    const outcome = { kind, status, error, durationMs: 7, retryAfterMs }
    this.send({ type: 'attempt-finished', ...flight, outcome, nowMs: this.nowMs, jitter })
  }

  advance(ms: number): void {
    this.nowMs += ms
    if (this.wakeAtMs !== null && this.wakeAtMs <= this.nowMs) {
      this.send({ type: 'tick', nowMs: this.nowMs })
    }
  }

  /** The process dies and another loads what was stored: flights, feeds and timers are lost. */
  crash(): void {
    this.flights.length = 0
    this.feeds.length = 0
    this.wakeAtMs = null
    this.state = this.#saved
    this.#unsaved = 0
    if (this.state !== null) this.send({ type: 'recover', nowMs: this.nowMs })
  }

  /** Runs with a receiver that always answers 200 until nothing is left to do. */
  drain(): void {
    for (let step = 0; step < 20_000; step++) {
      if (this.feeds.length > 0) this.answerFeed()
      else if (this.flights.length > 0) this.finish(0, 'delivered')
      else if (this.wakeAtMs !== null) this.advance(Math.max(0, this.wakeAtMs - this.nowMs))
      else return
    }
    throw new Error('the actor never came to rest')
  }

  #save(): void {
    this.#saved = this.state
    this.#unsaved = 0
  }

  #audit(event: EndpointEvent): void {
    if (event.type === 'attempt-started') {
      const tries = this.tries.get(event.eventId) ?? 0
      this.tries.set(event.eventId, tries + 1)
      const delivery = this.state?.pending.find(({ eventId }) => eventId === event.eventId)
      if (delivery?.phase === 'queued') this.#auditLane(event.eventId)
    } else if (event.type === 'attempt-finished') {
      if (event.result === 'retry') this.failedOnce.add(event.eventId)
      else this.results.set(event.eventId, event.result)
      if (event.result === 'delivered') this.deliveredInOrder.push(event.eventId)
    }
  }

  #auditLane(eventId: EventId): void {
    const own = this.log.find((meta) => meta.eventId === eventId)
    if (own === undefined || own.laneKey === null) return
    for (const earlier of this.log) {
      if (earlier.seq >= own.seq) break
      if (earlier.laneKey !== own.laneKey || earlier.type !== 'transaction.confirmed') continue
      if (this.results.has(earlier.eventId) || this.failedOnce.has(earlier.eventId)) continue
      throw new Error(`${eventId} was tried before ${earlier.eventId} of its lane`)
    }
  }
}
