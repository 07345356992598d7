import { Worker } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerBegin, WorkerStart } from './protocol.js'

/**
 * The worker threads of the service. As soon as they start they load their code, which takes
 * seconds on a busy machine, and connect to the chains; their actors begin once they receive what
 * is known only when the service may write the store. On a standby they wait until then.
 */
export interface WorkerThreads {
  readonly workers: readonly Worker[]
  /** Whether they are loaded and only wait to begin. */
  readonly areLoaded: boolean
  /**
   * Begins the actors. Call it once, when the handlers of their messages are in place.
   * @returns once their actors take commands
   * @throws Error when a worker ends first
   */
  begin(begin: WorkerBegin): Promise<void>
  /** Lets them finish what is under way, and ends them. */
  close(): Promise<void>
}

interface WorkerThreadsOptions {
  readonly entry: URL
  readonly starts: readonly WorkerStart[]
  /** Called when a worker ended unexpectedly: the process must restart. */
  readonly onExit: (error: unknown) => void
}

/**
 * A send lives for a quarter of a second until its block is seen; with V8's default of 48 MB much
 * of it is copied twice, grows old and is expensive to collect. Measured in turns: 6 % more sends a
 * second for 70 MB.
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

/** @throws Error when the worker ends first */
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
