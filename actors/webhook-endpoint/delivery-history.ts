import type { EventId, WebhookId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import type { Writer } from '../../src/store/writer.js'
import { type DeliveryRecord, evolveRecord, recordsTouched } from './core/delivery-record.js'
import type { EndpointEvent } from './core/events.js'

/** The most deliveries per endpoint that the console can list; older ones are forgotten. */
export const DELIVERY_RECORDS_MAX = 1_000

/** This many are forgotten at once, so that most changes forget nothing. */
const PRUNE_BATCH = 100

/** The most records in memory: all unfinished ones (fewer than this) and the last finished. */
const AT_HAND_MAX = 512

/** An endpoint's delivery records, folded from its events and written along with its state. */
export class DeliveryHistory {
  readonly #reader: Reader
  readonly #webhookId: WebhookId
  readonly #atHand = new Map<EventId, DeliveryRecord>()
  /** Records changed since they were written. */
  readonly #unsaved = new Set<EventId>()
  #count: number

  constructor(reader: Reader, webhookId: WebhookId) {
    this.#reader = reader
    this.#webhookId = webhookId
    let count = 0
    for (const _ of reader.deliveries.eventIds(webhookId, 2 * DELIVERY_RECORDS_MAX)) count++
    this.#count = count
  }

  fold(events: readonly EndpointEvent[]): void {
    for (const event of events) {
      for (const eventId of recordsTouched(event)) {
        const before = this.#find(eventId)
        const after = evolveRecord(before, eventId, event)
        if (after === null) continue
        if (before === null) this.#count++
        this.#atHand.set(eventId, after)
        this.#unsaved.add(eventId)
      }
    }
  }

  save(writer: Writer): void {
    for (const eventId of this.#unsaved) {
      writer.putDeliveryRecord(this.#webhookId, eventId, this.#atHand.get(eventId))
    }
    this.#unsaved.clear()
    if (this.#count > DELIVERY_RECORDS_MAX + PRUNE_BATCH) this.#prune(writer)
    if (this.#atHand.size > AT_HAND_MAX) this.#letGo()
  }

  removeAll(writer: Writer): void {
    for (const eventId of this.#reader.deliveries.eventIds(
      this.#webhookId,
      Number.MAX_SAFE_INTEGER,
    )) {
      writer.deleteDeliveryRecord(this.#webhookId, eventId)
    }
    // Records put by this turn, or by those being committed, cannot be read yet.
    for (const eventId of this.#atHand.keys()) {
      writer.deleteDeliveryRecord(this.#webhookId, eventId)
    }
    this.#atHand.clear()
    this.#unsaved.clear()
    this.#count = 0
  }

  #find(eventId: EventId): DeliveryRecord | null {
    const known = this.#atHand.get(eventId)
    if (known !== undefined) return known
    return this.#reader.deliveries.byEvent<DeliveryRecord>(this.#webhookId, eventId) ?? null
  }

  #prune(writer: Writer): void {
    for (const eventId of this.#reader.deliveries.eventIds(this.#webhookId, PRUNE_BATCH)) {
      if (this.#find(eventId)?.status === 'pending') continue
      writer.deleteDeliveryRecord(this.#webhookId, eventId)
      this.#atHand.delete(eventId)
      this.#count--
    }
  }

  /**
   * Drops the oldest finished records; unfinished ones stay, since their next change would read
   * them again.
   */
  #letGo(): void {
    for (const [eventId, { status }] of this.#atHand) {
      if (this.#atHand.size <= AT_HAND_MAX / 2) return
      if (status !== 'pending') this.#atHand.delete(eventId)
    }
  }
}
