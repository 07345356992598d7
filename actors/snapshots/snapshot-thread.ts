import { Worker } from 'node:worker_threads'
import type { SnapshotMade } from '../../src/store/snapshots/make-snapshot.js'
import type { SnapshotStart } from './worker.js'

/**
 * Makes a snapshot of the store in a thread of its own.
 * @throws Error with the message of `makeSnapshot`
 */
export function makeSnapshotAside(
  start: SnapshotStart,
  stopping: AbortSignal,
): Promise<SnapshotMade> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: start })
    const stop = () => worker.postMessage('stop')
    let made: SnapshotMade | null = null
    worker.once('message', (message: SnapshotMade) => {
      made = message
    })
    worker.once('error', reject)
    worker.once('exit', () => {
      stopping.removeEventListener('abort', stop)
      if (made === null) reject(new Error('the thread that makes a snapshot ended'))
      else resolve(made)
    })
    stopping.addEventListener('abort', stop)
    if (stopping.aborted) stop()
  })
}
