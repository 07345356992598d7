import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import type { ToWorker, WorkerBegin } from '../../actors/runtime/protocol.js'
import { messagesOf } from '../../actors/runtime/worker-messages.js'
import type { UserId } from '../../src/domain/ids.js'

const freezesOf = (user: string): ToWorker => ({
  type: 'freezes',
  userId: user as UserId,
  standing: [],
})

test('what a worker is told while it loads is served in its order, once it can be', async () => {
  const { port1: main, port2: worker } = new MessageChannel()
  const { begins, serveWith } = messagesOf(worker)
  const begin: WorkerBegin = { sequence: new SharedArrayBuffer(8), leadership: null }
  const sent: ToWorker[] = [
    freezesOf('first'),
    { type: 'begin', begin },
    freezesOf('second'),
    { type: 'drain' },
  ]
  for (const message of sent) main.postMessage(message)
  expect(await begins).toEqual(begin)
  const served: ToWorker[] = []
  serveWith((message) => served.push(message))
  main.postMessage(freezesOf('third'))
  await expect.poll(() => served.length).toBe(4)
  expect(served).toEqual([sent[0], sent[2], sent[3], freezesOf('third')])
  main.close()
})
