import { Worker } from 'node:worker_threads'
import type { RetentionStart } from './worker.js'

/** Records are kept for days, so one that is removed an hour late does no harm. */
export const RETENTION_INTERVAL_MS = 3_600_000

interface RetentionThread {
  /** Ends the thread after its present step. */
  close(): Promise<void>
}

/**
 * @param onError called when the thread ended by itself: nothing more is removed until the next
 * start
 */
export function startRetention(
  start: RetentionStart,
  onError: (error: unknown) => void,
): RetentionThread {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: start })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  worker.on('error', onError)
  worker.unref()
  return {
    async close() {
      worker.ref()
      worker.postMessage('stop')
      await ended
    },
  }
}
