import type { StoredEvent } from '../../src/domain/event.js'
import type { AskResult, Envelope, ReplyToken } from './actor.js'

/**
 * Messages between the main thread and a worker. Each side collects what it has to say during a
 * tick and posts it once.
 */
export interface ToWorker {
  readonly envelopes: readonly Envelope[]
}

export interface FromWorker {
  readonly replies: readonly { readonly token: ReplyToken; readonly result: AskResult }[]
  /** Commands for actors of other workers. */
  readonly envelopes: readonly Envelope[]
  readonly notices: readonly Notice[]
}

/** What the other threads must know, once it is durable. */
export type Notice =
  | { readonly type: 'ready' }
  | { readonly type: 'key-changed'; readonly secretHash: string }
  | { readonly type: 'events-appended'; readonly events: readonly StoredEvent[] }
  | { readonly type: 'drained' }
