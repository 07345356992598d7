import { Worker } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerBegin, WorkerStart } from './protocol.js'

/**
 * The worker threads of the service. They load what they run, which takes seconds on a busy machine,
 * and connect to the chains as soon as they are started; their actors begin once they are told of
 * what is known only when the store is this service's to write. A standby has them wait meanwhile.
 */
export interface WorkerThreads {
  readonly workers: readonly Worker[]
  /** Whether they wait for nothing but to be begun with. */
  readonly areLoaded: boolean
  /**
   * To be called once, when whoever takes their messages listens.
   * @returns once their actors take commands
   * @throws Error where one ends first
   */
  begin(begin: WorkerBegin): Promise<void>
  /** Lets them finish what is under way, and ends them. */
  close(): Promise<void>
}

export interface WorkerThreadsOptions {
  readonly entry: URL
  readonly starts: readonly WorkerStart[]
  /** One ended without being asked to: the process must start over. */
  readonly onExit: (error: unknown) => void
}

/**
 * A send lives for a quarter of a second until its block is seen; in V8's own 48 MB much of it is
 * copied twice, grows old and is expensive to collect. Measured in turns: 6 % more sends a second for
 * 70 MB.
 */
const YOUNG_GENERATION_MB = 192

export function startWorkerThreads({ entry, starts, onExit }: WorkerThreadsOptions): WorkerThreads {
  let isClosing = false
  let loaded = 0
  const workers = starts.map((start) => {
    const worker = new Worker(entry, {
      workerData: start,
      transferList: [start.lists.port],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'loaded') loaded++
    })
    worker.on('error', onExit)
    worker.on('exit', (code) => {
      if (!isClosing) onExit(endOf(code))
    })
    return worker
  })

  return {
    workers,
    get areLoaded() {
      return loaded === workers.length
    },
    async begin(begin) {
      const ready = workers.map((worker) => hears(worker, 'ready'))
      for (const worker of workers) {
        worker.postMessage({ type: 'begin', begin } satisfies ToWorker)
      }
      await Promise.all(ready)
    },
    async close() {
      isClosing = true
      const drained = workers.map((worker) => hears(worker, 'drained').catch(() => undefined))
      for (const worker of workers) worker.postMessage({ type: 'drain' } satisfies ToWorker)
      await Promise.all(drained)
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

/** @throws Error where it ends first */
function hears(worker: Worker, type: FromWorker['type']): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if (message.type === type) resolve()
    })
    worker.on('error', reject)
    worker.on('exit', (code) => reject(endOf(code)))
  })
}

function endOf(code: number): Error {
  return new Error(`a worker ended with code ${code}`)
}
