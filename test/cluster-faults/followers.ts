import { setTimeout as delay } from 'node:timers/promises'
import { type Receiver, startReceiver, status } from '../webhooks/receiver.js'
import type { User, World } from './world.js'

/** Of the log of one user, as the stream or a page of it has it. */
export interface LoggedEvent {
  readonly event_id: string
  readonly seq: number
  readonly type: string
  readonly data: { readonly tx_id?: string }
}

/** What one user's people and programs were told while it went on. */
export interface Follower {
  readonly user: User
  /** In the order in which they came. */
  readonly streamed: readonly LoggedEvent[]
  /** Ids of events and bodies, in the order in which they came; repetitions too. */
  readonly hooked: Receiver['received']
  stop(): Promise<void>
}

const TOLD = ['broadcast', 'confirmed', 'failed', 'dropped'].map((it) => `transaction.${it}`)
const AGAIN_MS = 50
const PAGE = 100

/** The stream at one node after the other, from the first event on, and a webhook. */
export async function follow(world: World, user: User): Promise<Follower> {
  const receiver = await startReceiver(status(200))
  const hook = { url: receiver.url, events: TOLD }
  const made = await user.console(world.nodes[0].url).post('/webhooks', hook)
  if (made.status !== 201) throw new Error(`no webhook: ${made.text}`)
  const streamed: LoggedEvent[] = []
  const stopping = new AbortController()
  const following = (async () => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const { url = '' } = world.all[turn % world.all.length] ?? {}
      await streamFrom(url, user.token, streamed, stopping.signal).catch(() => undefined)
      await delay(AGAIN_MS)
    }
  })()
  return {
    ...{ user, streamed, hooked: receiver.received },
    async stop() {
      stopping.abort()
      await following
      await receiver.stop()
    },
  }
}

/** A node that stands still says nothing and ends nothing: after so long without a word it is left. */
const SILENT_MS_MAX = 20_000

async function streamFrom(
  url: string,
  token: string,
  streamed: LoggedEvent[],
  stopping: AbortSignal,
): Promise<void> {
  const silent = new AbortController()
  let timer = setTimeout(() => silent.abort(), SILENT_MS_MAX)
  try {
    const answer = await fetch(`${url}/api/v1/agent/events/stream`, {
      headers: {
        authorization: `Bearer ${token}`,
        'last-event-id': String(streamed.at(-1)?.seq ?? 0),
      },
      signal: AbortSignal.any([stopping, silent.signal]),
    })
    if (answer.status !== 200 || answer.body === null) return
    let rest = ''
    for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), SILENT_MS_MAX)
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event = line.startsWith('data: ') ? JSON.parse(line.slice(6)) : {}
        if (typeof event.seq === 'number') streamed.push(event)
      }
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The user's log from its first event on. */
export async function logOf(user: Pick<User, 'console'>, url: string): Promise<LoggedEvent[]> {
  const all: LoggedEvent[] = []
  for (;;) {
    const after = all.at(-1)?.seq ?? 0
    const { json, text } = await user.console(url).get(`/events?after=${after}&limit=${PAGE}`)
    if (json.events === undefined) throw new Error(`no events: ${text}`)
    all.push(...(json.events as readonly LoggedEvent[]))
    if (json.has_more !== true) return all
  }
}
