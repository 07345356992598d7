import { eventData } from '../../src/api/event-data.js'
import type { Alarm, Timers } from '../../src/clock/timers.js'
import type { StoredEvent } from '../../src/domain/event.js'
import type { UserId, WebhookId } from '../../src/domain/ids.js'
import type { SealedText } from '../../src/service-custody/sealed-text.js'
import type { EventSequence } from '../../src/store/event-sequence.js'
import type { Reader } from '../../src/store/reader.js'
import type { Deliverer } from '../../src/webhooks/deliver.js'
import { deliveryBody } from '../../src/webhooks/delivery-body.js'
import type { ActorShell, Decision, ReplyToken } from '../runtime/actor.js'
import { CHECKPOINT_MS } from './core/checkpoint.js'
import type {
  Asker,
  EndpointCommand,
  EventMeta,
  IncomingCommand,
  LogCommand,
} from './core/commands.js'
import { decide } from './core/decide.js'
import type { EndpointEffect, EndpointEvent } from './core/events.js'
import { evolve } from './core/evolve.js'
import {
  activeSecrets,
  type EndpointState,
  type PendingDelivery,
  SEQ_UNKNOWN,
  wantsEvent,
} from './core/state.js'
import { DeliveryHistory } from './delivery-history.js'
import type { DeliveryPace } from './pace.js'
import { type Holder, recordEvents } from './record.js'
import { fromStored, type StoredState } from './stored-state.js'

interface WebhookPorts {
  readonly reader: Reader
  readonly sequence: EventSequence
  readonly deliverer: Deliverer
  /** Seals secrets at rest, and opens them for a delivery. */
  readonly sealedText: SealedText
  /** Shared by all endpoints of this thread. */
  readonly pace: DeliveryPace
  readonly log: { error(context: object, message: string): void }
  readonly timers: Timers
}

/**
 * The most events that one feed scans; the next feed continues there. After a long outage most of
 * the log may be of types that the endpoint does not want.
 */
const FEED_SCAN_MAX = 2_000
/** The origin of what the endpoint does by itself. */
const NOBODY: Asker = {}

type Wake = Extract<EndpointEffect, { type: 'wake' }>
type ShellEffect = Exclude<EndpointEffect, Wake> | OrderedWake
interface OrderedWake extends Wake {
  /** Grows with each decision. */
  readonly turn: number
}

export function createWebhookShell(
  ports: WebhookPorts,
): ActorShell<Holder, IncomingCommand, EndpointEvent, ShellEffect> {
  const { reader, sequence, deliverer, sealedText, pace, timers, log } = ports
  /**
   * Retry timers of resident endpoints; the times are in their durable state, so a restart sets
   * them again.
   */
  const alarms = new Map<string, Alarm>()
  let turns = 0

  function feed(state: EndpointState, afterSeq: number, limit: number): LogCommand {
    // The order matters: a snapshot older than `readable` would lack events, and the cursor would
    // skip them.
    const readable = sequence.readable(state.endpoint.userId)
    const events: EventMeta[] = []
    let scanned = 0
    for (const event of reader.fresh().events.ofUser(state.endpoint.userId, afterSeq, readable)) {
      scanned++
      const { eventId, seq, type, laneKey } = event
      if (wantsEvent(state, type)) events.push({ eventId, seq, type, laneKey })
      if (events.length < limit && scanned < FEED_SCAN_MAX) continue
      return {
        type: 'events-appended',
        source: 'feed',
        afterSeq,
        throughSeq: seq,
        events,
        nowMs: timers.now(),
      }
    }
    const throughSeq = Math.max(afterSeq, readable)
    const source = 'feed-to-end'
    return { type: 'events-appended', source, afterSeq, throughSeq, events, nowMs: timers.now() }
  }

  function loadEvent(user: UserId, { eventId, seq }: PendingDelivery): StoredEvent | undefined {
    const load = () =>
      seq === SEQ_UNKNOWN ? reader.events.byId(user, eventId) : reader.events.bySeq(user, seq)
    const event = load()
    if (event !== undefined) return event
    // The snapshot of this tick may be older than the commit with the event.
    reader.fresh()
    return load()
  }

  /**
   * Seals the secrets of a command: the state, the store and every event hold them sealed, and they
   * are open only during a delivery.
   */
  function sealed(id: string, command: IncomingCommand): EndpointCommand {
    if (command.type === 'register') {
      const { secret, endpoint, ...rest } = command
      const secrets = [{ sealed: sealedText.seal(secret, contextOf(id)), expiresAtMs: null }]
      return { ...rest, endpoint: { ...endpoint, secrets } }
    }
    if (command.type !== 'rotate-secret') return command
    const { secret, ...rest } = command
    return { ...rest, sealed: sealedText.seal(secret, contextOf(id)) }
  }

  function opened(id: string): (secret: string) => string {
    return (secret) => sealedText.open(secret, contextOf(id))
  }

  async function deliver(
    state: EndpointState,
    effect: Extract<EndpointEffect, { type: 'deliver' }>,
  ): Promise<LogCommand> {
    const { eventId, attemptId } = effect
    const { webhookId, kind, url, userId } = state.endpoint
    const pending = state.pending.find((delivery) => delivery.eventId === eventId)
    const event = pending === undefined ? undefined : loadEvent(userId, pending)
    if (event === undefined) throw new Error(`${eventId} is not in the log`)
    const outcome = await deliverer.deliver(
      { kind, url, secrets: activeSecrets(state.endpoint, timers.now()).map(opened(webhookId)) },
      { eventId, body: deliveryBody(event, eventData(event, reader.transactions.byId)) },
    )
    return {
      type: 'attempt-finished',
      eventId,
      attemptId,
      outcome: {
        kind: outcome.kind,
        status: outcome.status,
        error: outcome.kind === 'retry' ? outcome.error : null,
        retryAfterMs: outcome.kind === 'retry' ? (outcome.retryAfterMs ?? 0) : 0,
        durationMs: outcome.durationMs,
      },
      nowMs: timers.now(),
      jitter: timers.random.fraction(),
    }
  }

  /** Effects run after the commit, on the state at that time. */
  const holders = new Map<string, Holder>()

  const checkpoints = new Set<string>()
  function planCheckpoint(id: string, self: (command: LogCommand) => void): void {
    if (checkpoints.has(id)) return
    checkpoints.add(id)
    timers.at(timers.now() + CHECKPOINT_MS, () => {
      checkpoints.delete(id)
      self({ type: 'checkpoint', nowMs: timers.now() })
    })
  }

  function attempt(
    id: string,
    state: EndpointState,
    effect: Extract<EndpointEffect, { type: 'deliver' }>,
    self: (command: LogCommand) => void,
  ): void {
    deliver(state, effect).then(self, (error: unknown) => {
      log.error({ err: error, webhookId: id }, 'a delivery could not be attempted')
      self({
        type: 'attempt-finished',
        eventId: effect.eventId,
        attemptId: effect.attemptId,
        outcome: { kind: 'retry', status: null, error: 'the service failed', durationMs: 0 },
        nowMs: timers.now(),
        jitter: timers.random.fraction(),
      })
    })
  }

  /**
   * Sets the timer of the latest decision only. A decision made while an earlier one is being
   * written may need no commit and acts first; the earlier one would replace its timer.
   */
  function wake(
    id: string,
    holder: Holder | undefined,
    { atMs, turn }: OrderedWake,
    self: (command: LogCommand) => void,
  ): void {
    if (holder === undefined || turn < holder.wokenBy) return
    holder.wokenBy = turn
    alarms.get(id)?.cancel()
    alarms.delete(id)
    if (atMs !== null) {
      alarms.set(
        id,
        timers.at(atMs, () => self({ type: 'tick', nowMs: timers.now() })),
      )
    } else if (holder.state === null) holders.delete(id)
  }

  return {
    kind: 'webhook-endpoint',
    load(id) {
      const webhookId = id as WebhookId
      const stored = reader.fresh().deliveries.stateOf<StoredState>(webhookId)
      const state = stored === undefined ? null : fromStored(stored)
      const holder: Holder = {
        id: webhookId,
        state,
        endpoint: state?.endpoint ?? null,
        history: new DeliveryHistory(reader, webhookId),
        unsaved: false,
        wokenBy: 0,
        asker: NOBODY,
      }
      holders.set(id, holder)
      return holder
    },
    resume(holder) {
      return holder.state === null ? null : { type: 'recover', nowMs: timers.now() }
    },
    decide(holder, incoming, token) {
      const command = sealed(holder.id, incoming)
      holder.asker = 'requestId' in command ? command : NOBODY
      const { events, effects, reply } = decide(holder.state, command)
      holder.state = events.reduce(evolve, holder.state)
      holder.endpoint = holder.state?.endpoint ?? holder.endpoint
      const turn = ++turns
      const ordered = effects.map((effect) =>
        effect.type === 'wake' ? { ...effect, turn } : effect,
      )
      return withReply({ events, effects: ordered, replies: [] }, token, reply)
    },
    record(writer, holder, events) {
      recordEvents(writer, holder, events)
    },
    run(id, effect, self) {
      const holder = holders.get(id)
      const state = holder?.state ?? null
      if (holder?.unsaved === true) planCheckpoint(id, self)
      if (effect.type === 'wake') {
        wake(id, holder, effect, self)
        return
      }
      if (state === null) return
      if (effect.type === 'feed') {
        self(feed(state, effect.afterSeq, effect.limit))
        return
      }
      const waitMs = pace.next(state.endpoint.userId)
      if (waitMs === 0) attempt(id, state, effect, self)
      else {
        timers.at(timers.now() + waitMs, () => {
          // The state at that time; null once it was removed.
          const later = holders.get(id)?.state ?? null
          if (later !== null) attempt(id, later, effect, self)
        })
      }
    },
    // Endpoints are few, and each holds a timer, so they stay.
    idle: ({ state }) => state === null,
  }
}

function contextOf(webhookId: string): string {
  return `webhook\0${webhookId}`
}

function withReply(
  decision: Decision<EndpointEvent, ShellEffect>,
  token: ReplyToken | null,
  reply: ReturnType<typeof decide>['reply'],
): Decision<EndpointEvent, ShellEffect> {
  return token === null || reply === undefined
    ? decision
    : { ...decision, replies: [{ token, result: reply }] }
}
