import type { ActorShell } from '../../actors/runtime/actor.js'
import type { EventMeta, IncomingCommand } from '../../actors/webhook-endpoint/core/commands.js'
import {
  type DeliveryRecord,
  evolveRecord,
  recordsTouched,
} from '../../actors/webhook-endpoint/core/delivery-record.js'
import type { EndpointEffect, EndpointEvent } from '../../actors/webhook-endpoint/core/events.js'
import type { Holder } from '../../actors/webhook-endpoint/record.js'
import { createWebhookShell } from '../../actors/webhook-endpoint/shell.js'
import type { EventId, WebhookId } from '../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../src/domain/webhook.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { createMemoryEnvironment } from '../actors/memory-environment.js'
import { START_MS, USER_ID } from '../actors/wallet-fixtures.js'
import { seededRandom } from '../faults/random.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { byKey, mustEqual, World } from './world.js'

type EndpointShell = ActorShell<Holder, IncomingCommand, EndpointEvent, EndpointEffect>

export const ID = 'we_00000000000000000000000001' as WebhookId

export const ENDPOINT: Omit<WebhookEndpoint, 'secrets'> = {
  webhookId: ID,
  userId: USER_ID,
  url: 'https://hook.example/',
  events: null,
  kind: 'webhook',
  description: null,
  status: 'enabled',
  createdAtMs: START_MS,
}

/** Delivers nothing by itself: whoever drives it ends its effects. */
export function shellOn(reader: Reader, timers = new VirtualTimers(START_MS)): EndpointShell {
  return createWebhookShell({
    reader,
    sequence: attachEventSequence(createEventSequenceBuffer(), () => false),
    deliverer: { deliver: () => Promise.reject(new Error('driven by hand')) },
    sealedText: { seal: (text) => `sealed ${text}`, open: (text) => text },
    pace: { next: () => 0 },
    log: { error: () => undefined },
    timers,
  })
}

/** Drives one webhook endpoint in an order drawn by a seed; progress is saved at times only. */
export class EndpointDrive {
  readonly world: World<Holder, IncomingCommand, EndpointEvent, EndpointEffect>
  readonly #random: ReturnType<typeof seededRandom>
  /** What the console should be able to look back on. */
  readonly #records = new Map<EventId, DeliveryRecord>()
  readonly #log: EventMeta[] = []
  #nowMs = START_MS
  #secrets = 1
  #tests = 0

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    const { decide, record } = shellOn(createReader(createMemoryEnvironment()))
    const load = (reader: Reader) => shellOn(reader).load(ID)
    this.world = new World({ load, decide, record })
  }

  get trail(): readonly string[] {
    return this.world.trail
  }

  async step(): Promise<void> {
    this.#nowMs += this.#random.integer(60_000)
    const nowMs = this.#nowMs
    if (this.world.state.state === null) {
      const cursor = this.#log.length
      const secret = 'whsec_1'
      return this.#handle({ type: 'register', endpoint: ENDPOINT, secret, cursor, nowMs })
    }
    const drawn = this.#random.integer(100)
    if (drawn < 1) await this.#handle({ type: 'remove', nowMs })
    else if (drawn < 4) await this.#restart()
    else if (drawn < 12) await this.#change()
    else if (drawn < 15) {
      await this.#handle({ type: 'rotate-secret', secret: `whsec_${++this.#secrets}`, nowMs })
    } else if (drawn < 20) {
      const eventId = `evt_test_${++this.#tests}` as EventId
      await this.#handle({ type: 'test', eventId, nowMs })
    } else if (drawn < 24) await this.#redeliver()
    else if (drawn < 45) await this.#append()
    else if (drawn < 52) await this.#handle({ type: 'tick', nowMs })
    else if (drawn < 60) await this.#handle({ type: 'checkpoint', nowMs })
    else await this.#endEffect()
  }

  async #handle(command: IncomingCommand): Promise<void> {
    const { events } = await this.world.handle(command, 1)
    for (const event of events) {
      if (event.type === 'removed') this.#records.clear()
      for (const eventId of recordsTouched(event)) {
        const after = evolveRecord(this.#records.get(eventId) ?? null, eventId, event)
        if (after !== null) this.#records.set(eventId, after)
      }
    }
    this.#check()
  }

  async #restart(): Promise<void> {
    this.world.restart()
    // What was not saved happens again, and the history with it.
    this.#records.clear()
    for (const [id, record] of this.#stored()) this.#records.set(id, record)
    await this.#handle({ type: 'recover', nowMs: this.#nowMs })
  }

  #check(): void {
    const { state: holder, reader } = this.world
    if (holder.unsaved) return
    mustEqual('endpoint', holder.state, this.world.loaded().state)
    mustEqual('listed', holder.state?.endpoint, reader.webhooks.byId(ID))
    mustEqual('history', byKey(this.#records), byKey(this.#stored()))
  }

  #stored(): Map<EventId, DeliveryRecord> {
    const { items } = this.world.reader.deliveries.ofWebhook<DeliveryRecord>(ID, {
      limit: Number.MAX_SAFE_INTEGER,
      cursor: null,
    })
    return new Map(items.map((record) => [record.eventId, record]))
  }

  async #change(): Promise<void> {
    const nowMs = this.#nowMs
    const changes = this.#random.pick([
      { status: 'disabled' },
      { status: 'enabled' },
      { status: 'enabled' },
      { description: `at ${nowMs}` },
      { events: ['transaction.confirmed'] },
    ] as const)
    await this.#handle({ type: 'change', changes, nowMs })
  }

  async #redeliver(): Promise<void> {
    if (this.#log.length === 0) return
    const { eventId, seq, type: eventType } = this.#random.pick(this.#log)
    await this.#handle({ type: 'redeliver', eventId, seq, eventType, nowMs: this.#nowMs })
  }

  /** The log grows, and the endpoint hears of it or misses it. */
  async #append(): Promise<void> {
    const afterSeq = this.#log.length
    const count = 1 + this.#random.integer(3)
    for (let i = 0; i < count; i++) {
      const seq = this.#log.length + 1
      const type = this.#random.pick(['transaction.confirmed', 'transaction.broadcast'] as const)
      this.#log.push({ eventId: `evt_${seq}` as EventId, seq, type, laneKey: `lane-${seq % 3}` })
    }
    if (this.#random.chance(0.1)) return
    await this.#take('live', afterSeq, this.#log.length)
  }

  #take(source: 'live' | 'feed' | 'feed-to-end', afterSeq: number, throughSeq: number) {
    const events = this.#log.slice(afterSeq, throughSeq)
    const nowMs = this.#nowMs
    return this.#handle({ type: 'events-appended', source, afterSeq, throughSeq, events, nowMs })
  }

  async #endEffect(): Promise<void> {
    const { pending } = this.world
    if (pending.length === 0) return
    const [effect] = pending.splice(this.#random.integer(pending.length), 1)
    if (effect?.type === 'feed') {
      const { afterSeq, limit } = effect
      const throughSeq = Math.min(this.#log.length, afterSeq + limit)
      const isEnd = throughSeq === this.#log.length
      await this.#take(isEnd ? 'feed-to-end' : 'feed', afterSeq, Math.max(afterSeq, throughSeq))
    } else if (effect?.type === 'deliver') {
      const { eventId, attemptId } = effect
      const kind = this.#random.pick(['delivered', 'delivered', 'retry', 'retry', 'gone'] as const)
      const status = kind === 'delivered' ? 200 : 500
      const error = kind === 'delivered' ? null : 'it said no'
      const outcome = { kind, status, error, durationMs: 1 }
      const common = { eventId, attemptId, nowMs: this.#nowMs, jitter: 0.5 }
      await this.#handle({ type: 'attempt-finished', outcome, ...common })
    }
  }
}
