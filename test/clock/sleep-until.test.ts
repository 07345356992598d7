import { expect, test } from 'vitest'
import { sleepUntil } from '../../src/clock/timers.js'

const HOUR_MS = 3_600_000

/** A machine whose clock somebody sets; timers count what was left when they began. */
class Machine {
  aheadMs = 0
  #elapsedMs = 0
  readonly #alarms: { readonly atElapsedMs: number; readonly task: () => void }[] = []
  readonly timers = {
    now: () => this.#elapsedMs + this.aheadMs,
    at: (atMs: number, task: () => void) => {
      const atElapsedMs = this.#elapsedMs + Math.max(0, atMs - this.timers.now())
      this.#alarms.push({ atElapsedMs, task })
      return { cancel: () => undefined }
    },
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      this.#alarms.sort((one, other) => one.atElapsedMs - other.atElapsedMs)
      const [next] = this.#alarms
      if (next === undefined || next.atElapsedMs > untilMs) break
      this.#alarms.shift()
      this.#elapsedMs = next.atElapsedMs
      next.task()
    }
    this.#elapsedMs = untilMs
  }
}

async function wokenAfter(machine: Machine, atMs: number, ms: number, then: () => void) {
  let isAwake = false
  void sleepUntil(machine.timers, atMs).then(() => {
    isAwake = true
  })
  await machine.pass(0)
  then()
  await machine.pass(ms)
  return isAwake
}

test('who sleeps until a moment wakes then, and not before', async () => {
  const nothing = () => undefined
  expect(await wokenAfter(new Machine(), 5 * HOUR_MS, 5 * HOUR_MS - 1, nothing)).toBe(false)
  expect(await wokenAfter(new Machine(), 5 * HOUR_MS, 5 * HOUR_MS, nothing)).toBe(true)
})

test('a clock that was hours behind and is set right delays it by a minute at most', async () => {
  const machine = new Machine()
  machine.aheadMs = -5 * HOUR_MS
  const setRight = () => {
    machine.aheadMs = 0
  }
  expect(await wokenAfter(machine, 90_000, 150_000, setRight)).toBe(true)
})

test('a clock that was hours ahead and is set right lets it wait on', async () => {
  const machine = new Machine()
  machine.aheadMs = 5 * HOUR_MS
  const setRight = () => {
    machine.aheadMs = 0
  }
  expect(await wokenAfter(machine, 5 * HOUR_MS + 90_000, 120_000, setRight)).toBe(false)
})
