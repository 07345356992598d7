import { FaultError, fault } from '../errors/fault.js'

/**
 * The line of what people ask of custody at the console: wallet keys, grants, lists of authorizers.
 * Each holds this thread and the other domains for many milliseconds, so few are at work at once,
 * and users take turns: whoever asks for a thousand waits behind whoever asks for one.
 */
export interface ConsoleQueue {
  /** @throws FaultError OVERLOADED before anything was begun; whatever the work throws */
  run<T>(userId: string, work: () => Promise<T>): Promise<T>
}

/** Two keep this thread and the user side busy by turns; the others wait for a disk or a token. */
export const CONSOLE_AT_WORK_MAX = 4
/** So that the next who comes finds a place free. */
const AT_WORK_PER_USER_MAX = 2
/** A fleet's set-up from many connections; its work takes about three seconds. */
export const CONSOLE_WAITING_PER_USER_MAX = 64
/** All users of this thread together; beyond it the longest line loses its last. */
const WAITING_MAX = 1_024
/** What waited longer would end after its caller was answered (ASK_TIMEOUT_MS). */
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
  /** Those with something waiting or at work; insertion order is whose turn is next. */
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

  /** Takes what is next, and sends its user to the end of the round. */
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

  /** False when there is none: then this user's line is the longest. */
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
      'Too many changes of wallets and keys wait already; nothing was done. Send fewer at once.',
    ),
  )
}
