import { type Mode, type PruneContext, STEP_RECORDS_MAX, type Step } from './step.js'

type Key = [webhookId: string, eventId: string]

/** The fields needed of the record that `actors/webhook-endpoint` stores. */
interface FinishedAt {
  readonly status: 'pending' | 'delivered' | 'exhausted' | 'gone'
  readonly updatedAtMs: number
}

/**
 * Removes old finished deliveries. An endpoint has some hundred records, so all of them are
 * scanned.
 */
export function deliveryStep(
  { environment: { spaces } }: PruneContext,
  after: Key | null,
  beforeMs: number,
  mode: Mode,
): Step<Key> {
  const old: Key[] = []
  let last: Key | null = null
  let scanned = 0
  const range = after === null ? {} : { start: after, exclusiveStart: true }
  for (const { key, value } of spaces.deliveryRecords.getSound(range)) {
    if (scanned === STEP_RECORDS_MAX) break
    scanned++
    last = key as Key
    const { status, updatedAtMs } = value as FinishedAt
    if (status !== 'pending' && updatedAtMs < beforeMs) old.push(last)
  }
  if (mode === 'remove') for (const key of old) spaces.deliveryRecords.removeSync(key)
  return {
    next: scanned < STEP_RECORDS_MAX ? null : last,
    pruned: { deliveries: old.length },
  }
}
