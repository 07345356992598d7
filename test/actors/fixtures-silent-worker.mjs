import { parentPort } from 'node:worker_threads'

/** A worker that takes every command and answers none. */
parentPort?.on('message', ({ type }) => {
  if (type === 'begin') parentPort?.postMessage({ type: 'ready' })
  if (type === 'drain') parentPort?.postMessage({ type: 'drained' })
})
parentPort?.postMessage({ type: 'loaded' })
