import { FaultError, fault } from '../errors/fault.js'

/**
 * Queues what people request of custody at the console: wallet keys, grants, lists of authorizers.
 * Each takes many milliseconds of this thread and of the other domains, so few run at once and
 * users are served in turn: a thousand requests of one user do not delay another user's single one.
 */
export interface ConsoleQueue {
  /** @throws FaultError OVERLOADED before anything was begun; or what the work throws */
  run<T>(userId: string, work: () => Promise<T>): Promise<T>
}

/** Two keep this thread and the identity provider busy; the others wait for a disk or a token. */
export const CONSOLE_AT_WORK_MAX = 4
/** Leaves a free slot for the next user. */
const AT_WORK_PER_USER_MAX = 2
/** Room for a fleet's set-up over many connections, about three seconds of work. */
export const CONSOLE_WAITING_PER_USER_MAX = 64
/** The bound for all users of this thread. Above it, the longest queue loses its newest entry. */
const WAITING_MAX = 1_024
/** A longer wait would end after the caller has its answer (ASK_TIMEOUT_MS). */
const WAIT_MS_MAX = 30_000

interface Waiting {
  readonly begin: () => Promise<void>
  readonly refuse: () => void
  readonly sinceMs: number
}

interface Line {
  atWork: number
  readonly waiting: Waiting[]
}

/** @param nowMs a monotonic clock */
export function createConsoleQueue(nowMs: () => number): ConsoleQueue {
  /** Users with waiting or running work; insertion order is the order of service. */
  const lines = new Map<string, Line>()
  let atWork = 0
  let waiting = 0

  function advance(): void {
    for (let next = turn(); next !== null; next = turn()) {
      const [userId, line, item] = next
      if (nowMs() - item.sinceMs > WAIT_MS_MAX) {
        item.refuse()
        if (isIdle(line)) lines.delete(userId)
        continue
      }
      atWork++
      line.atWork++
      void item.begin().then(() => {
        atWork--
        line.atWork--
        if (isIdle(line)) lines.delete(userId)
        advance()
      })
    }
  }

  /** Takes the next entry and moves its user to the end of the round. */
  function turn(): readonly [string, Line, Waiting] | null {
    if (atWork >= CONSOLE_AT_WORK_MAX) return null
    for (const [userId, line] of lines) {
      if (line.atWork >= AT_WORK_PER_USER_MAX) continue
      const item = line.waiting.shift()
      if (item === undefined) continue
      waiting--
      lines.delete(userId)
      lines.set(userId, line)
      return [userId, line, item]
    }
    return null
  }

  /** Returns false when no other user's queue is longer than this one. */
  function makeRoom(own: number): boolean {
    let longest: Line | null = null
    for (const line of lines.values()) {
      if (line.waiting.length > (longest?.waiting.length ?? own)) longest = line
    }
    const last = longest?.waiting.pop()
    if (last === undefined) return false
    waiting--
    last.refuse()
    return true
  }

  return {
    run(userId, work) {
      const line = lines.get(userId) ?? { atWork: 0, waiting: [] }
      const own = line.waiting.length
      if (own >= CONSOLE_WAITING_PER_USER_MAX) return Promise.reject(overloaded())
      if (waiting >= WAITING_MAX && !makeRoom(own + 1)) return Promise.reject(overloaded())
      return new Promise((resolve, reject) => {
        line.waiting.push({
          begin: () => work().then(resolve, reject),
          refuse: () => reject(overloaded()),
          sinceMs: nowMs(),
        })
        waiting++
        lines.set(userId, line)
        advance()
      })
    },
  }
}

function isIdle({ atWork, waiting }: Line): boolean {
  return atWork === 0 && waiting.length === 0
}

function overloaded(): FaultError {
  return new FaultError(
    fault(
      'OVERLOADED',
      { waiting_max: CONSOLE_WAITING_PER_USER_MAX },
      'Too many changes of wallets and keys are waiting; nothing was done. Send fewer at once.',
    ),
  )
}
