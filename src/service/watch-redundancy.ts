import type { Alarm, Timers } from '../clock/timers.js'
import type { Journal, Redundancy } from '../journal/journal.js'

/** Tells whether the journal's engine may lose one more of its servers, as of the last poll. */
export interface WatchedRedundancy {
  /**
   * Null if it may, or if the engine does not tell. Also null without standbys, because commits
   * then need none.
   */
  readonly reason: string | null
  close(): void
}

interface RedundancyOptions {
  readonly journal: Pick<Journal, 'redundancy'>
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
}

const POLL_MS = 10_000

const GO_ON =
  "on the server that takes writes, run ALTER SYSTEM SET synchronous_standby_names = '' and SELECT pg_reload_conf() to continue on one machine until a standby is back"

/** @returns null if one more standby may be lost without stopping writes */
export function redundancyReason({ needed, connected }: Redundancy): string | null {
  if (needed === 0) {
    return 'Commits wait for no Postgres standby, so acknowledged writes exist on one machine and are lost with its disk. Set synchronous_standby_names (CLUSTER.md, "Servers of the journal").'
  }
  if (connected < needed) {
    return `Each commit waits for ${standbys(needed)} of Postgres and ${connected} can answer, so all writes stop until one is back. To continue without it, ${GO_ON}.`
  }
  if (connected > needed) return null
  return `Each commit waits for ${standbys(needed)} of Postgres and no more can answer, so losing one stops all writes until it is back. Add a standby and name both in synchronous_standby_names = 'ANY 1 (a, b)'. Once one is lost, ${GO_ON}.`
}

const standbys = (count: number) => (count === 1 ? 'a standby' : `${count} standbys`)

/** Logs the state at the start and at each change. */
export function watchRedundancy({ journal, timers, log }: RedundancyOptions): WatchedRedundancy {
  let said: string | null = null
  let reason: string | null = null
  let isOver = false
  let alarm: Alarm | null = null

  async function poll(): Promise<void> {
    try {
      const seen = await journal.redundancy?.()
      if (seen === undefined) return
      const next = redundancyReason(seen)
      if (next !== null && next !== said) log.warn({ ...seen }, next)
      if (next === null && said !== null) {
        log.info({ ...seen }, 'the journal may lose a standby of Postgres again')
      }
      said = next
      reason = seen.needed === 0 ? null : next
    } catch {
      // Another part of /readyz reports a journal that does not answer.
    }
    if (!isOver) alarm = timers.at(timers.now() + POLL_MS, () => void poll())
  }
  void poll()

  return {
    get reason() {
      return reason
    },
    close() {
      isOver = true
      alarm?.cancel()
    },
  }
}
