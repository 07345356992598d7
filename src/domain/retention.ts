/** How long records are kept after they last mattered, in milliseconds; null means for ever. */
export interface Retention {
  /** The console's history of finished deliveries. */
  readonly deliveriesMs: number | null
  /** The event log, which is pruned from its start; it stays gap-free towards its end. */
  readonly eventsMs: number | null
  /** The audit trail. The evidence of both keys is another log, and is never pruned. */
  readonly auditMs: number | null
}

export const DAY_MS = 24 * 3_600_000

/** The numbers that were removed, or would be. */
export interface Pruned {
  readonly deliveries: number
  readonly events: number
  readonly audit: number
  /** Users whose old events are still needed by a webhook or by a transaction that is not final. */
  readonly heldBack: number
}

export const NOTHING_PRUNED: Pruned = { deliveries: 0, events: 0, audit: 0, heldBack: 0 }

export function addPruned(a: Pruned, b: Pruned): Pruned {
  return {
    deliveries: a.deliveries + b.deliveries,
    events: a.events + b.events,
    audit: a.audit + b.audit,
    heldBack: a.heldBack + b.heldBack,
  }
}
