/**
 * A process that hosts webhook endpoints as a worker of the service does (real shell, runtime,
 * store and transport) and appends events to the log, as a sub-wallet of the same user would.
 * Told what to do over IPC; `fork(path, [store directory])`.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ShardHost } from '../../dist/actors/runtime/shard-host.js'
import { createAnnouncer } from '../../dist/actors/webhook-endpoint/announce.js'
import { createDeliveryPace } from '../../dist/actors/webhook-endpoint/pace.js'
import { createWebhookShell } from '../../dist/actors/webhook-endpoint/shell.js'
import { systemTimers } from '../../dist/src/clock/timers.js'
import { openDataKeys } from '../../dist/src/custody/domain-keys/data-keys.js'
import { NO_METER } from '../../dist/src/domain/meter.js'
import { createSealedText } from '../../dist/src/service-custody/sealed-text.js'
import { openEnvironment } from '../../dist/src/store/environment.js'
import {
  attachEventSequence,
  createEventSequenceBuffer,
} from '../../dist/src/store/event-sequence.js'
import { localCommits } from '../../dist/src/store/local-commits.js'
import { createReader } from '../../dist/src/store/reader.js'
import { WriteBatch } from '../../dist/src/store/write-batch.js'
import { createDeliverer } from '../../dist/src/webhooks/deliver.js'
import { createGuardedAgent } from '../../dist/src/webhooks/guarded-agent.js'

const environment = openEnvironment(process.argv[2] ?? '')
const reader = createReader(environment)
const sequence = attachEventSequence(
  createEventSequenceBuffer(reader.events.lastSeqs()),
  () => true,
)
/** Wrapped data keys in a file, since the host is killed and started again. */
function storedKeys(path) {
  const list = () => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [])
  return {
    list: () => list().map(({ id, wrapped }) => ({ id, wrapped: Buffer.from(wrapped, 'base64') })),
    addFirst: (id, wrapped) =>
      writeFileSync(path, JSON.stringify([{ id, wrapped: wrapped.toString('base64') }])),
  }
}
const keys = storedKeys(join(process.argv[2] ?? '', 'data-keys.json'))
const sealedText = createSealedText(openDataKeys('service', [Buffer.alloc(32, 7)], keys))
const dispatcher = createGuardedAgent({ targets: 'any' })
const log = { error: (context, message) => process.stderr.write(`${message} ${context.err}\n`) }
const timers = systemTimers(Date.now)
const ports = { reader, sequence, log, timers }
const waiting = new Map()

const host = new ShardHost({
  meter: NO_METER,
  commits: localCommits(environment, sequence),
  timers,
  log,
  shells: [
    createWebhookShell({
      ...ports,
      deliverer: createDeliverer({ dispatcher }),
      sealedText,
      pace: createDeliveryPace(1_000, timers),
    }),
  ],
  reply: (token, result) => waiting.get(token)?.(result),
  appended: (events) => announce(events),
  fatal(error) {
    throw error
  },
})
const announce = createAnnouncer({ ...ports, tell: (envelope) => host.deliver(envelope) })

for (const { webhookId } of reader.webhooks.all()) {
  const command = { type: 'tick', nowMs: Date.now() }
  host.deliver({ kind: 'webhook-endpoint', id: webhookId, command, token: null })
}

let tokens = 0
function ask(id, command) {
  const token = ++tokens
  return new Promise((resolve) => {
    waiting.set(token, resolve)
    host.deliver({ kind: 'webhook-endpoint', id, command, token })
  })
}

const appending = localCommits(environment, sequence)
async function append(events) {
  const batch = new WriteBatch()
  for (const event of events) batch.appendEvent(event)
  const stored = await appending.commit(batch)
  announce(stored)
}

async function obey(message) {
  switch (message.type) {
    case 'register': {
      const { endpoint, secret } = message
      const cursor = sequence.readable(endpoint.userId)
      const command = { type: 'register', endpoint, secret, cursor, nowMs: Date.now() }
      await ask(endpoint.webhookId, command)
      return null
    }
    case 'append':
      await append(message.events)
      return null
    case 'log':
      reader.fresh()
      return [...reader.events.ofUser(message.userId, 0, sequence.readable(message.userId))].map(
        ({ seq, eventId }) => ({ seq, eventId }),
      )
    case 'deliveries':
      return reader.fresh().deliveries.ofWebhook(message.webhookId, { limit: 2_000, cursor: null })
        .items
    default:
      throw new Error(`unknown message ${message.type}`)
  }
}

process.on('message', (message) => {
  obey(message).then(
    (value) => process.send?.({ id: message.id, value }),
    (error) => {
      process.stderr.write(`${error.stack}\n`)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.({ id: 0, value: null })
