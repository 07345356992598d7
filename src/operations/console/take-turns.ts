import { fault } from '../../errors/fault.js'
import type { Answer, ConsoleContext } from '../context.js'

/**
 * The most long operations at work. They run in slices, and each may run one slice before other
 * work, so another call waits for at most this many slices.
 */
const AT_WORK_MAX = 2
/** The most that wait in total; one per user, so that no user takes every place. */
const WAITING_MAX = 8

type LongHandler<Input, Value> = (
  context: ConsoleContext,
  input: Input,
) => Answer<Value> | Promise<Answer<Value>>

interface Waiting {
  readonly userId: string
  readonly go: () => void
}

/**
 * Wraps a handler so that a few calls are at work at a time, one per user; a few more wait, first
 * in, first out. Beyond that the answer is `OVERLOADED`, with nothing done.
 */
export function takeTurns<Input, Value>(
  handler: LongHandler<Input, Value>,
): (context: ConsoleContext, input: Input) => Promise<Answer<Value>> {
  const atWork = new Set<string>()
  const waiting: Waiting[] = []

  /** True if the call may begin; null if there is no place. */
  function place(userId: string): Promise<void> | true | null {
    const isFree = atWork.size < AT_WORK_MAX && !atWork.has(userId)
    if (isFree) {
      atWork.add(userId)
      return true
    }
    const waitsAlready = waiting.some((other) => other.userId === userId)
    if (waitsAlready || waiting.length >= WAITING_MAX) return null
    return new Promise((go) => waiting.push({ userId, go }))
  }

  function leave(userId: string): void {
    atWork.delete(userId)
    const at = waiting.findIndex((next) => !atWork.has(next.userId))
    const [next] = at < 0 ? [] : waiting.splice(at, 1)
    if (next === undefined) return
    atWork.add(next.userId)
    next.go()
  }

  return async (context, input) => {
    const { userId } = context
    const placed = place(userId)
    if (placed === null) return { ok: false, fault: fault('OVERLOADED') }
    if (placed !== true) await placed
    try {
      return await handler(context, input)
    } finally {
      leave(userId)
    }
  }
}
