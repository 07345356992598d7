import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Outcome } from './simulation.js'

/** What threads share of a run: the next seed that nobody has taken, and whether to take more. */
interface Shared {
  readonly seeds: Int32Array
}

/** Most of what a world makes is dead within a few of its tasks: with more room less of it is copied. */
const YOUNG_MB = 64
const NEXT = 0
const OVER = 1

export interface ManySeeds {
  readonly first: number
  /** Null: until told otherwise. */
  readonly runs: number | null
  readonly forMs: number
  /** In the order of the seeds, whichever thread was sooner. */
  readonly ended: (outcome: Outcome) => void
}

/**
 * Runs a world of each seed, as many at once as there are cores. Each thread loads the entry anew
 * and is to call `serveSeeds`; what a world does depends on its seed alone.
 * @returns how many ran
 */
export async function runOnThreads({ first, runs, forMs, ended }: ManySeeds): Promise<number> {
  const seeds = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  const early = new Map<number, Outcome>()
  let done = 0
  function took(outcome: Outcome): void {
    early.set(outcome.seed - first, outcome)
    for (let next = early.get(done); next !== undefined; next = early.get(done)) {
      early.delete(done++)
      ended(next)
    }
  }
  const timer = runs === null ? setTimeout(() => Atomics.store(seeds, OVER, 1), forMs) : null
  const threads = Math.min(availableParallelism(), runs ?? Number.POSITIVE_INFINITY)
  const workerData = { seeds, first, runs }
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL(import.meta.url), {
      ...{ argv: process.argv.slice(2), workerData },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    worker.on('message', took)
    return new Promise<void>((resolve, reject) => {
      worker.on('error', reject)
      worker.on('exit', () => resolve())
    })
  })
  await Promise.all(workers)
  if (timer !== null) clearTimeout(timer)
  return done
}

/** On a thread: takes one seed after another. @returns false on the main thread, where nothing is done */
export async function serveSeeds(run: (seed: number) => Promise<Outcome>): Promise<boolean> {
  if (isMainThread) return false
  // Errors are what many calls end with here, and a stack takes longer than what was asked for. A
  // seed that fails is run anew by itself, with them.
  Error.stackTraceLimit = 0
  const { seeds, first, runs } = workerData as Shared & Pick<ManySeeds, 'first' | 'runs'>
  while (Atomics.load(seeds, OVER) === 0) {
    const nth = Atomics.add(seeds, NEXT, 1)
    if (runs !== null && nth >= runs) break
    const outcome = await run(first + nth)
    const { wrong, script } = outcome
    parentPort?.postMessage({ ...outcome, script: wrong.length === 0 ? [] : script })
  }
  return true
}
