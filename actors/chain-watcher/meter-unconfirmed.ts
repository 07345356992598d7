import { timeOfId } from '../../src/domain/ids.js'
import type { LaneBacklog, PathMeter } from '../../src/domain/path-meter.js'
import type { ActorShell } from '../runtime/actor.js'
import type { WatcherState } from './core/state.js'
import type { WatchList } from './core/watch-list.js'

/**
 * Wraps the shell and reports how many transactions of each chain wait for their end, and since
 * when.
 */
export function meterUnconfirmed<Command, Event, Effect>(
  shell: ActorShell<WatcherState, Command, Event, Effect>,
  path: Pick<PathMeter, 'unconfirmed'>,
): ActorShell<WatcherState, Command, Event, Effect> {
  return {
    ...shell,
    load(id) {
      const state = shell.load(id)
      path.unconfirmed(state.chainId, () => backlogOf(state.watched))
      return state
    },
  }
}

/** Ids sort by time. Ten thousand take about a millisecond, at most once a second. */
function backlogOf(watched: WatchList): LaneBacklog {
  let oldest: string | null = null
  const owners = new Set<string>()
  for (const { txId, owner } of watched.open()) {
    if (oldest === null || txId < oldest) oldest = txId
    owners.add(owner)
  }
  return {
    count: watched.openCount,
    oldestAtMs: oldest === null ? null : timeOfId(oldest),
    lanes: owners.size,
  }
}
