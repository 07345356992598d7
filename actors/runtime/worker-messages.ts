import type { MessagePort } from 'node:worker_threads'
import type { ToWorker, WorkerBegin } from './protocol.js'

type Serve = (message: Exclude<ToWorker, { readonly type: 'begin' }>) => void

/**
 * Receives a worker's messages from its first line on: messages that arrive while it loads, which
 * are a few freezes, are kept and served once there is a handler.
 */
export function messagesOf(port: MessagePort) {
  const early: Parameters<Serve>[0][] = []
  let serve: Serve = (message) => {
    early.push(message)
  }
  const begins = new Promise<WorkerBegin>((resolve) => {
    port.on('message', (message: ToWorker) => {
      if (message.type === 'begin') resolve(message.begin)
      else serve(message)
    })
  })
  return {
    begins,
    serveWith(its: Serve): void {
      serve = its
      for (const message of early.splice(0)) its(message)
    },
  }
}
