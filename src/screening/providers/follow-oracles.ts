/** Keeps mirrors of oracles current until closed. */
import type { ListLog } from '../lists/list-owner.js'
import type { OracleMirror } from './oracle-mirror.js'

interface FollowOptions {
  readonly mirrors: readonly OracleMirror[]
  /** The interval between two polls of a chain that had nothing more to read. */
  readonly pollMs: number
  /** Publishes the stored lists after they changed. */
  readonly stored: () => Promise<void>
  readonly log: ListLog
}

/**
 * The longest backoff for a chain that does not answer; a newly listed address could still be paid
 * during that time.
 */
const FAILED_PAUSE_MS_MAX = 10_000

/** @returns a function that stops it; polls under way end first */
export function followOracles(options: FollowOptions): { close(): Promise<void> } {
  const stopping = new AbortController()
  const running = options.mirrors.map((mirror) => follow(mirror, options, stopping.signal))
  return {
    async close() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

async function follow(
  mirror: OracleMirror,
  { pollMs, stored, log }: FollowOptions,
  stopping: AbortSignal,
): Promise<void> {
  let failures = 0
  while (!stopping.aborted) {
    let pauseMs = pollMs
    try {
      const advanced = await mirror.advance()
      if (advanced.stored) await stored()
      if (failures > 0) log.info({ list: mirror.name }, 'the sanctions oracle is followed again')
      failures = 0
      if (advanced.behind) pauseMs = 0
    } catch (error) {
      if (failures === 0) {
        log.warn({ list: mirror.name, err: error }, 'the sanctions oracle cannot be followed')
      }
      pauseMs = Math.min(pollMs * 2 ** Math.min(failures, 10), FAILED_PAUSE_MS_MAX)
      failures++
    }
    await pause(pauseMs, stopping)
  }
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    timer.unref()
    stopping.addEventListener('abort', done)
  })
}
