import { addPruned, NOTHING_PRUNED, type Pruned, type Retention } from '../../domain/retention.js'
import { auditStep } from './prune-audit.js'
import { deliveryStep } from './prune-deliveries.js'
import { eventStep } from './prune-events.js'
import type { Mode, PruneContext, Step } from './step.js'

type TakeStep<Cursor> = (
  context: PruneContext,
  cursor: Cursor | null,
  beforeMs: number,
  mode: Mode,
) => Step<Cursor>

/**
 * Removes records older than their retention, a few at a time. Each step reads and removes in one
 * write transaction, so nothing changes in between and a crash leaves the store whole: the removals
 * of a step and its mark are either both there or not at all.
 *
 * One pass goes over the whole store; each `next` is one step.
 * @param mode `count` changes nothing
 */
export function* prunePass(
  context: PruneContext,
  { deliveriesMs, eventsMs, auditMs }: Retention,
  nowMs: number,
  mode: Mode,
): Generator<Pruned> {
  if (deliveriesMs !== null) yield* steps(deliveryStep, context, nowMs - deliveriesMs, mode)
  if (eventsMs !== null) yield* steps(eventStep, context, nowMs - eventsMs, mode)
  if (auditMs !== null) yield* steps(auditStep, context, nowMs - auditMs, mode)
}

function* steps<Cursor>(
  take: TakeStep<Cursor>,
  context: PruneContext,
  beforeMs: number,
  mode: Mode,
): Generator<Pruned> {
  const { root } = context.environment
  let cursor: Cursor | null = null
  for (;;) {
    const at: Cursor | null = cursor
    if (mode === 'count') context.reader.fresh()
    const step: Step<Cursor> =
      mode === 'count'
        ? take(context, at, beforeMs, mode)
        : root.transactionSync(() => take(context, at, beforeMs, mode))
    yield addPruned(NOTHING_PRUNED, { ...NOTHING_PRUNED, ...step.pruned })
    if (step.next === null) return
    cursor = step.next
  }
}
