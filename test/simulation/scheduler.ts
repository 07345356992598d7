import type { Alarm, Timers } from '../../src/clock/timers.js'
import type { Draw } from './random.js'

interface Task {
  readonly atMs: number
  /** Tasks of one moment run in the order in which they were asked for. */
  readonly order: number
  run: (() => void) | null
}

/** Tasks of one moment: with more of them something asks for itself again and again. */
const AT_ONCE_MAX = 300_000

/** That the event loop is given at once. */
const TURN_TASKS = 64

/** Virtual time: nothing happens but what was scheduled, one task after another. */
export class Scheduler {
  nowMs: number
  readonly startMs: number
  /** A binary heap, earliest first. */
  readonly #heap: Task[] = []
  #order = 0
  /** Since time moved on. */
  #atOnce = 0

  constructor(startMs: number) {
    this.startMs = startMs
    this.nowMs = startMs
  }

  at(atMs: number, run: () => void): Alarm {
    const task: Task = { atMs: Math.max(atMs, this.nowMs), order: this.#order++, run }
    this.#push(task)
    return {
      cancel() {
        task.run = null
      },
    }
  }

  after(delayMs: number, run: () => void): Alarm {
    return this.at(this.nowMs + delayMs, run)
  }

  /** When the next task is due; null when there is none. */
  get nextMs(): number | null {
    return this.#heap[0]?.atMs ?? null
  }

  /**
   * Runs tasks, each with all that its promises lead to, until it is done.
   * @param isDone asked before each task
   */
  async run(isDone: () => boolean): Promise<void> {
    let isOver = false
    const next = () => {
      isOver ||= isDone()
      if (!isOver) this.#next()
    }
    while (!isOver) await oneTurn(next)
  }

  #next(): void {
    const task = this.#pop()
    if (task === undefined) return
    if (task.atMs > this.nowMs) this.#atOnce = 0
    else if (++this.#atOnce > AT_ONCE_MAX) throw new Error('no end of what is done in one moment')
    this.nowMs = task.atMs
    task.run?.()
  }

  #push(task: Task): void {
    const heap = this.#heap
    let at = heap.push(task) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above] as Task
      if (isBefore(parent, task)) break
      heap[at] = parent
      at = above
    }
    heap[at] = task
  }

  #pop(): Task | undefined {
    const heap = this.#heap
    const [first] = heap
    const last = heap.pop()
    if (last === undefined || last === first) return last
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      const right = heap[below + 1]
      if (right !== undefined && isBefore(right, heap[below] as Task)) below++
      const child = heap[below] as Task
      if (isBefore(last, child)) break
      heap[at] = child
      at = below
    }
    heap[at] = last
    return first
  }
}

/**
 * Node settles all promises between two callbacks of one turn of its event loop. A turn for each
 * task would take longer than most tasks do.
 */
function oneTurn(next: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const guarded = () => {
      try {
        next()
      } catch (error) {
        reject(error)
      }
    }
    for (let i = 0; i < TURN_TASKS; i++) setImmediate(guarded)
    setImmediate(resolve)
  })
}

function isBefore(a: Task, b: Task): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** One start of a process. What it asked for does not happen any more once it was killed. */
export interface Life {
  isAlive: boolean
  /** Until then it does nothing, and what comes to it waits. To be moved once that has passed alone. */
  frozenUntilMs: number
}

export function newLife(): Life {
  return { isAlive: true, frozenUntilMs: 0 }
}

/** What came to a process runs at once, in its order when it thaws, or never. */
export function arrive(scheduler: Scheduler, life: Life, run: () => void): void {
  if (!life.isAlive) return
  if (isFrozen(scheduler, life)) thawed(scheduler, life, run)
  else run()
}

/** What comes at that moment comes behind what has waited. */
export function isFrozen({ nowMs }: Scheduler, { frozenUntilMs }: Life): boolean {
  return nowMs <= frozenUntilMs
}

function thawed(scheduler: Scheduler, life: Life, run: () => void): Alarm {
  return scheduler.at(life.frozenUntilMs, () => {
    if (life.isAlive) run()
  })
}

/** The same of what a process asked for itself, and may take back until it runs. */
export function alarmOf(scheduler: Scheduler, life: Life, atMs: number, run: () => void): Alarm {
  let alarm = scheduler.at(atMs, ring)
  function ring(): void {
    if (!life.isAlive) return
    if (isFrozen(scheduler, life)) alarm = thawed(scheduler, life, run)
    else run()
  }
  return { cancel: () => alarm.cancel() }
}

/** Time and chance as a process sees them. @param aheadMs of its machine's clock */
export function timersOf(scheduler: Scheduler, life: Life, draw: Draw, aheadMs = 0): Timers {
  return {
    now: () => scheduler.nowMs + aheadMs,
    elapsed: () => scheduler.nowMs - scheduler.startMs,
    at: (atMs, task) => alarmOf(scheduler, life, Math.ceil(atMs) - aheadMs, task),
    soon: (task) => void scheduler.at(scheduler.nowMs, () => arrive(scheduler, life, task)),
    random: { fraction: draw.fraction, bytes: draw.bytes },
  }
}
