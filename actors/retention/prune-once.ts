import {
  addPruned,
  NOTHING_PRUNED,
  type Pruned,
  type Retention,
} from '../../src/domain/retention.js'
import { openBesideService } from '../../src/store/environment.js'
import { createReader } from '../../src/store/reader.js'
import { prunePass } from '../../src/store/retention/prune-store.js'
import type { Mode } from '../../src/store/retention/step.js'
import { createEventNeeds } from './event-needs.js'

/**
 * Makes one pass over a store, whether its service runs or not.
 * @param nowMs the time by which records are too old; removal is final, so the clock must be right
 * @param rest awaited after each step
 */
export async function pruneOnce(
  storeDirectory: string,
  retention: Retention,
  mode: Mode,
  nowMs: number,
  rest: () => Promise<void>,
): Promise<Pruned> {
  const environment = openBesideService(storeDirectory)
  try {
    const reader = createReader(environment)
    const context = { environment, reader, needs: createEventNeeds(reader) }
    let pruned = NOTHING_PRUNED
    for (const step of prunePass(context, retention, nowMs, mode)) {
      pruned = addPruned(pruned, step)
      await rest()
    }
    return pruned
  } finally {
    await environment.root.close()
  }
}
