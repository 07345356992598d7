import type { Alarm, Timers } from '../../src/clock/timers.js'
import type { Draw } from './random.js'

interface Task {
  readonly atMs: number
  /** Tasks of one moment run in the order in which they were asked for. */
  readonly order: number
  run: (() => void) | null
}

/** That the event loop is given at once. */
const TURN_TASKS = 64

/** Virtual time: nothing happens but what was scheduled, one task after another. */
export class Scheduler {
  nowMs: number
  readonly startMs: number
  /** A binary heap, earliest first. */
  readonly #heap: Task[] = []
  #order = 0

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
}

/** Time and chance as a process sees them. */
export function timersOf(scheduler: Scheduler, life: Life, draw: Draw): Timers {
  const whileAlive = (task: () => void) => () => {
    if (life.isAlive) task()
  }
  return {
    now: () => scheduler.nowMs,
    elapsed: () => scheduler.nowMs - scheduler.startMs,
    at: (atMs, task) => scheduler.at(Math.ceil(atMs), whileAlive(task)),
    soon: (task) => void scheduler.at(scheduler.nowMs, whileAlive(task)),
    random: { fraction: draw.fraction, bytes: draw.bytes },
  }
}
