import { createHash } from 'node:crypto'
import type { Timers } from '../../src/clock/timers.js'

interface Due {
  readonly atMs: number
  /** Orders tasks that are due at the same time: the one that was requested first runs first. */
  readonly turn: number
  readonly task: () => void
}

/** How many tasks one `run` may lead to; more means a loop that never ends. */
const TASKS_MAX = 100_000

/**
 * Time and chance that change only when a test moves them; the same seed gives the same sequence.
 */
export class VirtualTimers implements Timers {
  #nowMs: number
  #turns = 0
  #drawn = 0
  readonly #seed: number
  readonly #due = new Set<Due>()
  readonly random = {
    fraction: () => this.#draw().readUInt32BE(0) / 2 ** 32,
    bytes: (count: number) => {
      const drawn = Array.from({ length: Math.ceil(count / 32) }, () => this.#draw())
      return Buffer.concat(drawn).subarray(0, count)
    },
  }

  constructor(nowMs: number, seed = 1) {
    this.#nowMs = nowMs
    this.#seed = seed
  }

  now = (): number => this.#nowMs
  elapsed = (): number => this.#nowMs

  at = (atMs: number, task: () => void) => {
    const due: Due = { atMs: Math.max(atMs, this.#nowMs), turn: this.#turns++, task }
    this.#due.add(due)
    return { cancel: () => void this.#due.delete(due) }
  }

  soon = (task: () => void): void => {
    this.at(this.#nowMs, task)
  }

  /** The number of tasks that wait for their time. */
  get waiting(): number {
    return this.#due.size
  }

  /**
   * Lets time pass and runs every task at its moment, including tasks that others add. Promises
   * that a task settles continue before the next task runs.
   */
  async pass(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs
    for (let ran = 0; ; ran++) {
      await new Promise((resolve) => setImmediate(resolve))
      const next = this.#next()
      if (next === undefined || next.atMs > untilMs) break
      if (ran >= TASKS_MAX) throw new Error('tasks lead to tasks without end')
      this.#due.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.task()
    }
    this.#nowMs = untilMs
  }

  /** No task runs in the meantime, as in a frozen process. */
  standStill(byMs: number): void {
    this.#nowMs += byMs
  }

  #next(): Due | undefined {
    let first: Due | undefined
    for (const due of this.#due) {
      const isEarlier =
        first === undefined ||
        due.atMs < first.atMs ||
        (due.atMs === first.atMs && due.turn < first.turn)
      if (isEarlier) first = due
    }
    return first
  }

  #draw(): Buffer {
    return createHash('sha256')
      .update(`${this.#seed}:${this.#drawn++}`)
      .digest()
  }
}
