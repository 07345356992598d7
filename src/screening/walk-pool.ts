/**
 * Walks large calldata in a piscina thread with a limit of time and heap. One thread, which starts
 * with the first large call: a walk takes milliseconds, and small calldata is not walked here.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Piscina } from 'piscina'
import type { QueueReading } from '../domain/meter.js'
import type { Judged, Undecodable, WalkReport } from './walk/walk-report.js'

/** Far above what the walk's budget permits; a walk that takes longer has defeated the budget. */
const WALK_MS_MAX = 250
/** The time to load the thread's modules on a busy machine, which is not the calldata's fault. */
const WARM_MS_MAX = 10_000
/** At some milliseconds each, the last walk in the queue still waits less than half a second. */
const WAITING_MAX = 64
const IDLE_MS_MAX = 60_000
const HEAP = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

/** A walk without a result. `unavailable`: the same call may pass later. */
export type WalkOutcome<T> =
  | { readonly outcome: 'walked'; readonly value: T }
  | { readonly outcome: 'undecodable'; readonly undecodable: Undecodable }
  | { readonly outcome: 'unavailable'; readonly reason: string }

/** Functions of the worker module. */
type Task = 'check' | 'report' | 'judge'

export class WalkPool {
  readonly #pool: Piscina
  readonly #entry: string
  readonly #walkMsMax: number
  #last: Promise<unknown> = Promise.resolve()
  #loading: Promise<unknown> | null = null
  #closed = false
  #waiting = 0
  #dropped = 0
  #waitMs = 0

  /**
   * @param entry the built worker module; by default the one next to this file's build
   * @param walkMsMax in wall-clock time, which other work of the machine uses as well
   */
  constructor(
    entry: URL = new URL('../pool/walk-calldata.js', import.meta.url),
    walkMsMax: number = WALK_MS_MAX,
  ) {
    this.#walkMsMax = walkMsMax
    // Given with each task and not here: a module that does not load then fails its task, whereas
    // piscina would start thread after thread for a preloaded one.
    this.#entry = entry.href
    this.#pool = new Piscina({
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS_MAX,
      concurrentTasksPerWorker: 1,
      resourceLimits: HEAP,
      env: {},
      // Without atomics a waiting thread blocks nothing and can be ended at once.
      atomics: 'disabled',
    })
    // A thread that dies idle is replaced by the next walk; without a listener the event would end
    // the process.
    this.#pool.on('error', () => {})
  }

  check(data: Uint8Array<ArrayBuffer>): Promise<WalkOutcome<Undecodable | null>> {
    return this.#inTurn('check', data, data)
  }

  report(data: Uint8Array<ArrayBuffer>): Promise<WalkOutcome<WalkReport>> {
    return this.#inTurn('report', data, data)
  }

  /**
   * Scans and walks, so that the caller's thread does neither.
   * @param data followed by the zeros that the scan needs
   * @param sets buffers of address sets; the first that holds a party counts
   */
  judge(
    data: Uint8Array<ArrayBuffer>,
    sets: readonly SharedArrayBuffer[],
  ): Promise<WalkOutcome<Judged>> {
    return this.#inTurn('judge', { data, sets }, data)
  }

  read(): QueueReading {
    return { length: this.#waiting, waitMs: this.#waitMs, dropped: this.#dropped }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#loading?.catch(() => {})
    await this.#pool.destroy()
  }

  /** One walk at a time, so that the time limit covers the walk and not the queue. */
  async #inTurn<T>(task: Task, input: unknown, data: Uint8Array<ArrayBuffer>) {
    if (this.#waiting >= WAITING_MAX) {
      this.#dropped++
      return unavailable('too many calls are being screened')
    }
    this.#waiting++
    const sinceMs = performance.now()
    const turn = this.#last.then(() => {
      this.#waitMs = performance.now() - sinceMs
      return this.#walk<T>(task, input, data)
    })
    this.#last = turn
    try {
      return await turn
    } finally {
      this.#waiting--
    }
  }

  /**
   * Waits for a thread that loads modules: ending it then would end the process, because Node
   * asserts that the modules are linked. A slow thread finishes loading and serves later calls.
   */
  async #loaded(): Promise<void> {
    if (this.#loading === null) {
      if (this.#pool.threads.length > 0) return
      this.#loading = this.#pool.run(null, { filename: this.#entry, name: 'warm' }).finally(() => {
        this.#loading = null
      })
    }
    const inTime = new AbortController()
    const tooSlow = delay(WARM_MS_MAX, undefined, { signal: inTime.signal }).then(() => {
      throw new Error('it takes too long')
    })
    try {
      await Promise.race([this.#loading, tooSlow])
    } finally {
      inTime.abort()
    }
  }

  /** @param data is moved to the thread */
  async #walk<T>(
    task: Task,
    input: unknown,
    data: Uint8Array<ArrayBuffer>,
  ): Promise<WalkOutcome<T>> {
    try {
      await this.#loaded()
    } catch (error) {
      return unavailable(`the screening thread does not start: ${(error as Error).message}`)
    }
    try {
      const value: T = await this.#pool.run(input, {
        filename: this.#entry,
        name: task,
        signal: AbortSignal.timeout(this.#walkMsMax),
        transferList: [data.buffer],
      })
      return { outcome: 'walked', value }
    } catch (error) {
      if (this.#closed) return unavailable('the screening thread is ending')
      const { name, code } = error as NodeJS.ErrnoException
      const slow = name === 'AbortError'
      if (!slow && code !== 'ERR_WORKER_OUT_OF_MEMORY') {
        return unavailable(`the screening thread failed: ${(error as Error).message}`)
      }
      const reason = `The calldata takes too much ${slow ? 'time' : 'memory'} to screen.`
      const cause = slow ? 'too-slow' : 'too-large'
      return { outcome: 'undecodable', undecodable: { cause, reason, path: 'data' } }
    }
  }
}

function unavailable(reason: string): { readonly outcome: 'unavailable'; readonly reason: string } {
  return { outcome: 'unavailable', reason }
}
