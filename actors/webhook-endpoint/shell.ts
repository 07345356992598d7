import type { Agent } from 'undici'
import type { WebhookId } from '../../src/domain/ids.js'
import type { EventSequence } from '../../src/store/event-sequence.js'
import type { Reader } from '../../src/store/reader.js'
import type { Transactor } from '../../src/store/transactor.js'
import type { Deliverer } from '../../src/webhooks/deliver.js'
import { deliveryBody } from '../../src/webhooks/delivery-body.js'
import type { ActorShell, Decision, ReplyToken } from '../runtime/actor.js'
import type { EndpointCommand, EventMeta } from './commands.js'
import { decide } from './decide.js'
import type { EndpointEffect, EndpointEvent } from './events.js'
import { evolve } from './evolve.js'
import { activeSecrets, type EndpointState, wantsEvent } from './state.js'

export interface WebhookPorts {
  readonly reader: Reader
  readonly sequence: EventSequence
  readonly deliverer: Deliverer
  readonly dispatcher: Agent
  readonly log: { error(context: object, message: string): void }
  readonly nowMs: () => number
  /** In [0, 1). */
  readonly random: () => number
}

/** The runtime owns one object per actor; the endpoint's pure state is a value inside it. */
interface Holder {
  readonly id: WebhookId
  state: EndpointState | null
}

export function createWebhookShell(
  ports: WebhookPorts,
): ActorShell<Holder, EndpointCommand, EndpointEvent, EndpointEffect> {
  const { reader, sequence, deliverer, nowMs, random, log } = ports
  /** Retry times of resident endpoints; durable in their state, so a restart sets them anew. */
  const alarms = new Map<string, NodeJS.Timeout>()

  function feed(state: EndpointState, afterSeq: number, limit: number): EndpointCommand {
    reader.refresh()
    const readable = sequence.readable()
    const events: EventMeta[] = []
    for (const event of reader.eventsOfUser(state.endpoint.userId, afterSeq, readable)) {
      if (!wantsEvent(state, event.type)) continue
      const { eventId, seq, type, laneKey } = event
      events.push({ eventId, seq, type, laneKey })
      if (events.length < limit) continue
      return {
        type: 'events-appended',
        source: 'feed',
        afterSeq,
        throughSeq: seq,
        events,
        nowMs: nowMs(),
      }
    }
    const throughSeq = Math.max(afterSeq, readable)
    const source = 'feed-to-end'
    return { type: 'events-appended', source, afterSeq, throughSeq, events, nowMs: nowMs() }
  }

  async function deliver(
    state: EndpointState,
    effect: Extract<EndpointEffect, { type: 'deliver' }>,
  ): Promise<EndpointCommand> {
    const { eventId, attemptId } = effect
    const pending = state.pending.find((delivery) => delivery.eventId === eventId)
    const event = pending === undefined ? undefined : reader.event(pending.seq)
    if (event === undefined) throw new Error(`${eventId} is not in the log`)
    const { url } = state.endpoint
    const outcome = await deliverer.deliver(
      { url, secrets: activeSecrets(state.endpoint, nowMs()) },
      { eventId, body: deliveryBody(event) },
    )
    return {
      type: 'attempt-finished',
      eventId,
      attemptId,
      outcome: {
        kind: outcome.kind,
        status: outcome.status,
        error: outcome.kind === 'retry' ? outcome.error : null,
        durationMs: outcome.durationMs,
      },
      nowMs: nowMs(),
      jitter: random(),
    }
  }

  /** Effects run after the commit, on the state as it is then. */
  const holders = new Map<string, Holder>()

  return {
    kind: 'webhook-endpoint',
    load(id) {
      reader.refresh()
      const webhookId = id as WebhookId
      const holder = { id: webhookId, state: reader.deliveries<EndpointState>(webhookId) ?? null }
      holders.set(id, holder)
      return holder
    },
    resume(holder) {
      return holder.state === null ? null : { type: 'recover', nowMs: nowMs() }
    },
    decide(holder, command, token) {
      const { events, effects, reply } = decide(holder.state, command)
      holder.state = events.reduce(evolve, holder.state)
      return withReply({ events, effects, replies: [] }, token, reply)
    },
    record(transactor: Transactor, holder, events) {
      const { state, id } = holder
      if (state !== null) {
        const { endpoint, disabledBecause } = state
        const status = disabledBecause === null ? 'enabled' : 'disabled'
        if (endpoint.status !== status || changesEndpoint(events)) {
          transactor.putWebhook({ ...endpoint, status })
        }
        transactor.putDeliveries(id, state)
        return
      }
      const removed = reader.webhook(id)
      if (removed !== undefined) transactor.deleteWebhook(id, removed.userId)
    },
    run(id, effect, self) {
      const state = holders.get(id)?.state ?? null
      if (effect.type === 'wake') {
        clearTimeout(alarms.get(id))
        alarms.delete(id)
        if (effect.atMs === null) return
        const alarm = setTimeout(
          () => self({ type: 'tick', nowMs: nowMs() }),
          Math.max(0, effect.atMs - nowMs()),
        )
        alarm.unref()
        alarms.set(id, alarm)
        return
      }
      if (state === null) return
      if (effect.type === 'feed') {
        self(feed(state, effect.afterSeq, effect.limit))
        return
      }
      deliver(state, effect).then(self, (error: unknown) => {
        log.error({ err: error, webhookId: id }, 'a delivery could not be attempted')
      })
    },
    // Endpoints are few, and each holds an alarm: they stay.
    idle: () => false,
  }
}

function withReply(
  decision: Decision<EndpointEvent, EndpointEffect>,
  token: ReplyToken | null,
  reply: ReturnType<typeof decide>['reply'],
): Decision<EndpointEvent, EndpointEffect> {
  return token === null || reply === undefined
    ? decision
    : { ...decision, replies: [{ token, result: reply }] }
}

function changesEndpoint(events: readonly EndpointEvent[]): boolean {
  return events.some(({ type }) =>
    ['registered', 'changed', 'enabled', 'disabled', 'secret-rotated'].includes(type),
  )
}
