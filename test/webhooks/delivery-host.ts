import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { DeliveryRecord } from '../../actors/webhook-endpoint/core/delivery-record.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { EventId, UserId, WebhookId } from '../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../src/domain/webhook.js'

const FIXTURE = fileURLToPath(new URL('./fixtures-delivery-host.mjs', import.meta.url))

type Message =
  | ({ readonly type: 'register' } & HostedEndpoint)
  | { readonly type: 'append'; readonly events: readonly NewEvent[] }
  | { readonly type: 'log'; readonly userId: UserId }
  | { readonly type: 'deliveries'; readonly webhookId: WebhookId }

/** An endpoint to be registered, with the secret that its deliveries are signed with. */
export interface HostedEndpoint {
  readonly endpoint: Omit<WebhookEndpoint, 'secrets'>
  readonly secret: string
}

/** The hosting process, as its test sees it. */
export interface DeliveryHost {
  register(hosted: HostedEndpoint): Promise<void>
  /** Resolves when the events are durable. @throws Error when the process died before it said so */
  append(events: readonly NewEvent[]): Promise<void>
  log(userId: UserId): Promise<readonly { readonly seq: number; readonly eventId: EventId }[]>
  deliveries(webhookId: WebhookId): Promise<readonly DeliveryRecord[]>
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
}

export async function startDeliveryHost(directory: string): Promise<DeliveryHost> {
  const child: ChildProcess = fork(FIXTURE, [directory], { serialization: 'advanced' })
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const gone = new Promise<void>((resolve) =>
    child.once('exit', () => {
      process.removeListener('exit', killWithParent)
      for (const { reject } of waiting.values()) reject(new Error('the host is gone'))
      waiting.clear()
      resolve()
    }),
  )
  const ready = new Promise<unknown>((resolve, reject) => waiting.set(0, { resolve, reject }))
  child.on('message', ({ id, value }: { id: number; value: unknown }) => {
    waiting.get(id)?.resolve(value)
    waiting.delete(id)
  })
  let lastId = 0
  function ask<T>(message: Message): Promise<T> {
    const id = ++lastId
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, { resolve: (value) => resolve(value as T), reject })
      if (!child.connected) reject(new Error('the host is gone'))
      // A host that is killed at this moment is still connected, and takes nothing any more.
      else child.send({ ...message, id }, (error) => (error === null ? undefined : reject(error)))
    })
  }
  await ready
  return {
    register: ({ endpoint, secret }) => ask({ type: 'register', endpoint, secret }),
    append: (events) => ask({ type: 'append', events }),
    log: (userId) => ask({ type: 'log', userId }),
    deliveries: (webhookId) => ask({ type: 'deliveries', webhookId }),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
