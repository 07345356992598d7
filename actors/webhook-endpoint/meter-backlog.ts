import { timeOfId } from '../../src/domain/ids.js'
import type { PathMeter } from '../../src/domain/path-meter.js'
import type { ActorShell } from '../runtime/actor.js'
import type { Holder } from './record.js'

/**
 * Wraps the shell and reports how many events the endpoints of this thread have taken from the log
 * and not delivered. Disabled endpoints are not counted.
 */
export function meterBacklog<Command, Event, Effect>(
  shell: ActorShell<Holder, Command, Event, Effect>,
  path: Pick<PathMeter, 'webhooks'>,
): ActorShell<Holder, Command, Event, Effect> {
  /** One entry per endpoint; endpoints stay in memory. */
  const holders = new Map<string, Holder>()
  path.webhooks(() => {
    let count = 0
    let oldestAtMs: number | null = null
    for (const [id, { state }] of holders) {
      if (state === null) holders.delete(id)
      if (state === null || state.disabledBecause !== null) continue
      count += state.pending.length
      const [first] = state.pending
      if (first === undefined) continue
      const atMs = timeOfId(first.eventId)
      if (oldestAtMs === null || atMs < oldestAtMs) oldestAtMs = atMs
    }
    return { count, oldestAtMs }
  })
  return {
    ...shell,
    load(id) {
      const holder = shell.load(id)
      holders.set(id, holder)
      return holder
    },
  }
}
