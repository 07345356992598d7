import { webhookEndpointAddress } from '../../actors/addresses.js'
import type { ActorAddress } from '../../actors/runtime/actor.js'
import type { EventType } from '../../src/domain/event-types.js'
import { type EventId, ID_PREFIX, type UserId, type WebhookId } from '../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../src/domain/webhook.js'
import type { Reader } from '../../src/store/reader.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'

/** An endpoint as its owner registered it. */
export interface KnownEndpoint {
  readonly endpoint: Omit<WebhookEndpoint, 'secrets'>
  readonly secret: string
}

/** How owners of endpoints reach the service. */
export interface EndpointAsking {
  tell(address: ActorAddress, command: object, what: string): void
  /** Its clock, or its journal, lets nothing begin that lasts for a time. */
  isStopped(): boolean
  readonly reader: Reader
  id<Id extends string>(prefix: string): Id
}

const PER_USER_MAX = 2
/** Null: what an endpoint gets by itself. */
const FILTERS: readonly (readonly EventType[] | null)[] = [
  null,
  ['transaction.broadcast', 'transaction.confirmed', 'transaction.failed', 'transaction.dropped'],
  ['user.frozen', 'user.unfrozen', 'key.revoked', 'approval.requested', 'approval.declined'],
]

/** Who wants to be told: endpoints are registered, switched off and on, and asked for tests. */
export class Endpoints {
  readonly all: KnownEndpoint[] = []
  readonly #draw: Draw
  readonly #scheduler: Scheduler
  readonly #asking: EndpointAsking
  #isCalm = false

  constructor(draw: Draw, scheduler: Scheduler, asking: EndpointAsking) {
    this.#draw = draw
    this.#scheduler = scheduler
    this.#asking = asking
  }

  register(userId: UserId): void {
    const draw = this.#draw
    const count = draw.between(1, PER_USER_MAX)
    for (let i = 0; i < count; i++) {
      const webhookId = this.#asking.id<WebhookId>(ID_PREFIX.webhook)
      const known: KnownEndpoint = {
        endpoint: {
          ...{
            webhookId,
            userId,
            kind: 'webhook',
            url: `https://receiver${this.all.length}.test/`,
          },
          ...{ events: draw.pick(FILTERS), description: null, status: 'enabled' },
          createdAtMs: this.#scheduler.nowMs,
        },
        secret: `secret of ${webhookId}`,
      }
      this.all.push(known)
      this.#register(known)
    }
  }

  /** What was not acknowledged is asked for again. */
  restarted(): void {
    for (const known of this.all) {
      const { webhookId } = known.endpoint
      if (this.#asking.reader.webhooks.byId(webhookId) === undefined) this.#register(known)
      if (this.#isCalm) this.#switch(known, 'enabled')
    }
  }

  /** Something that an owner does. */
  act(): void {
    const draw = this.#draw
    if (this.all.length === 0) return
    const known = draw.pick(this.all)
    const nowMs = this.#scheduler.nowMs
    if (draw.chance(0.3)) {
      const eventId = this.#asking.id<EventId>(ID_PREFIX.event)
      this.#tell(known, { type: 'test', eventId, nowMs }, 'test')
    } else if (draw.chance(0.4)) {
      // By a clock that is a day off the one before it would be good for no time, or for long.
      if (this.#asking.isStopped()) return
      const secret = `another ${known.secret}`
      this.#tell(known, { type: 'rotate-secret', secret, nowMs }, 'rotate-secret')
    } else this.#switch(known, draw.pick(['enabled', 'disabled']))
  }

  /** Nobody stays away, so that all is told in the end. */
  calm(): void {
    this.#isCalm = true
    for (const known of this.all) this.#switch(known, 'enabled')
  }

  /** An answer that was on its way since then may have switched one off. */
  switchOn(): void {
    for (const known of this.all) {
      const { webhookId } = known.endpoint
      const stored = this.#asking.reader.webhooks.byId(webhookId)
      if (stored?.status === 'disabled') this.#switch(known, 'enabled')
    }
  }

  #switch(known: KnownEndpoint, status: WebhookEndpoint['status']): void {
    const nowMs = this.#scheduler.nowMs
    this.#tell(known, { type: 'change', changes: { status }, nowMs }, `switch-${status}`)
  }

  #register(known: KnownEndpoint): void {
    const nowMs = this.#scheduler.nowMs
    this.#tell(known, { type: 'register', ...known, cursor: 0, nowMs }, 'register')
  }

  #tell({ endpoint }: KnownEndpoint, command: object, what: string): void {
    const { webhookId } = endpoint
    this.#asking.tell(webhookEndpointAddress(endpoint), command, `${what} ${webhookId.slice(-6)}`)
  }
}
