import type { Deliverer, DeliveryEvent, DeliveryOutcome } from '../../src/webhooks/deliver.js'
import { DELIVERY_TIMEOUT_MS } from '../../src/webhooks/deliver.js'
import type { Draw } from './random.js'
import { arrive, type Life, type Scheduler } from './scheduler.js'

/** Shares of deliveries; all that remain are answered well. */
export interface ReceiverFaults {
  readonly refusals: number
  /** No answer comes, though half of them were taken. */
  readonly hangs: number
  /** The answer comes in the last moment. */
  readonly late: number
  /** They want no more: 410. */
  readonly gone: number
}

/** A delivery as its receiver saw it. */
export interface Reception {
  readonly url: string
  readonly eventId: string
  readonly body: string
  readonly secrets: readonly string[]
  /** Places among all that receivers saw; when its end was known to the service. */
  readonly beganAt: number
  endedAt: number | null
  outcome: DeliveryOutcome['kind'] | null
}

/** One event fails no more often, so that the tries of a run stay within minutes. */
const FAILURES_MAX = 3
const CALM: ReceiverFaults = { refusals: 0, hangs: 0, late: 0, gone: 0 }
const LATENCY_MS_MAX = 200

/** Programs of users, which are told what happened. */
export class Receivers {
  faults: ReceiverFaults = CALM
  readonly receptions: Reception[] = []
  readonly #failures = new Map<string, number>()
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #note: (line: string) => void
  #places = 0

  constructor(scheduler: Scheduler, draw: Draw, note: (line: string) => void) {
    this.#scheduler = scheduler
    this.#draw = draw
    this.#note = note
  }

  calm(): void {
    this.faults = CALM
  }

  /** As one start of the service reaches them. */
  delivererOf(life: Life): Deliverer {
    return {
      deliver: ({ url, secrets }, event) =>
        new Promise((resolve) => {
          const outcome = this.#answer(url, event)
          const { durationMs } = outcome
          const reception: Reception = {
            ...{ url, ...event, secrets, beganAt: ++this.#places, endedAt: null, outcome: null },
          }
          this.receptions.push(reception)
          this.#note(`deliver ${outcome.kind} ${url} ${event.eventId.slice(-6)}`)
          this.#scheduler.after(durationMs, () =>
            arrive(this.#scheduler, life, () => {
              reception.endedAt = ++this.#places
              reception.outcome = outcome.kind
              resolve(outcome)
            }),
          )
        }),
    }
  }

  #answer(url: string, { eventId }: DeliveryEvent): DeliveryOutcome {
    const draw = this.#draw
    const { refusals, hangs, late, gone } = this.faults
    const durationMs = 1 + draw.integer(LATENCY_MS_MAX)
    const drawn = draw.fraction()
    const name = `${url} ${eventId}`
    const failures = this.#failures.get(name) ?? 0
    const fails = drawn < refusals + hangs && failures < FAILURES_MAX
    if (fails) this.#failures.set(name, failures + 1)
    if (fails && drawn < refusals) {
      const status = draw.pick([302, 404, 500, 503])
      return { kind: 'retry', status, error: `answered ${status}`, durationMs }
    }
    if (fails) {
      return { kind: 'retry', status: null, error: 'no answer', durationMs: DELIVERY_TIMEOUT_MS }
    }
    if (draw.chance(gone)) return { kind: 'gone', status: 410, durationMs }
    const isLate = draw.chance(late)
    return {
      ...{ kind: 'delivered', status: 200 },
      durationMs: isLate ? DELIVERY_TIMEOUT_MS - 1 : durationMs,
    }
  }
}
