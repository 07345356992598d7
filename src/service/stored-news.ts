import { type Agent, request as sendRequest } from 'node:http'
import type { HttpResponse, RoutedApp } from '../http/app.js'
import type { LeaderPlace } from '../http/leader-place.js'
import { readRequestHead } from '../http/request-head.js'

/**
 * Tells the nodes of a cell at once what its leader has stored. Each node sends a request, which
 * the leader answers when it has stored more than the node has. Without a link, nodes learn it only
 * from the heartbeat in the journal, twice a second.
 */
export interface StoredNews {
  /** Called by the leader for each entry that both the journal and its store have. */
  stored(epoch: number, seq: number): void
  /**
   * Asks the leader what it has stored.
   * @returns the last stored entry, which may not be newer; 0 after a pause if the leader does not
   * answer
   */
  storedAfter(seq: number): Promise<number>
  /** Whether another node follows this one, that is, sent a request within FOLLOWED_MS. */
  isFollowed(): boolean
  /** Answers other nodes on the link. */
  answerOn(app: Pick<RoutedApp, 'get'>): void
  /** Answers all waiting nodes. */
  close(): void
}

interface StoredNewsOptions {
  readonly agent: Agent
  /** Null if no reachable leader is known. */
  readonly leader: () => LeaderPlace | null
}

const PATH = '/_node/stored'
/** Every request is answered by then, with or without news. */
const HELD_MS = 2_000
const ANSWER_MS_MAX = 4_000
/** Pause after a request that failed, or while this node has just taken over. */
const AGAIN_MS = 500
/** The longest time between two requests of a node that follows, even a busy one. */
const FOLLOWED_MS = HELD_MS + 3_000
/** The most nodes of a cell that wait at once, with one request each. */
const WAITING_MAX = 256

interface Waiting {
  readonly after: number
  readonly answer: () => void
}

export function createStoredNews({ agent, leader }: StoredNewsOptions): StoredNews {
  let own = { epoch: 0, seq: 0 }
  const waiting = new Set<Waiting>()
  let asked: Promise<number> | null = null
  let followedMs = Number.NEGATIVE_INFINITY

  function hold(response: HttpResponse, after: number): void {
    const end = (isThere: boolean) => {
      clearTimeout(late)
      waiting.delete(one)
      if (isThere) answer(response, '200 OK', String(own.seq))
    }
    const one: Waiting = { after, answer: () => end(true) }
    const late = setTimeout(one.answer, HELD_MS)
    response.onAborted(() => end(false))
    if (own.seq > after || waiting.size >= WAITING_MAX) one.answer()
    else waiting.add(one)
  }

  async function ask(after: number): Promise<number> {
    const place = leader()
    const said = place === null ? null : await storedAt(agent, place, after)
    if (said !== null) return said
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref())
    return 0
  }

  return {
    stored(epoch, seq) {
      own = { epoch, seq }
      for (const each of [...waiting]) if (seq > each.after) each.answer()
    },
    storedAfter(seq) {
      asked ??= ask(seq).finally(() => {
        asked = null
      })
      return asked
    },
    isFollowed: () => performance.now() - followedMs < FOLLOWED_MS,
    answerOn(app) {
      app.get(`${PATH}/:epoch/:after`, (response, request) => {
        // Forwarded requests of callers also arrive on this link, and they name their caller.
        const isOfNode = readRequestHead(request).xForwardedFor === ''
        const [epoch, after] = [0, 1].map((index) => Number(request.getParameter(index)))
        if (isOfNode && epoch === own.epoch && Number.isSafeInteger(after)) {
          followedMs = performance.now()
          hold(response, after ?? 0)
        } else answer(response, '404 Not Found', '')
      })
    },
    close() {
      for (const each of [...waiting]) each.answer()
    },
  }
}

function answer(response: HttpResponse, status: string, body: string): void {
  response.cork(() => {
    response.writeStatus(status)
    response.end(body)
  })
}

/** @returns null if the leader does not answer with a number */
function storedAt(
  agent: Agent,
  { host, port, epoch }: LeaderPlace,
  after: number,
): Promise<number | null> {
  return new Promise((resolve) => {
    const sent = sendRequest({ agent, host, port, path: `${PATH}/${epoch}/${after}` })
    const late = setTimeout(() => sent.destroy(new Error('no answer')), ANSWER_MS_MAX)
    late.unref()
    const end = (said: number | null) => {
      clearTimeout(late)
      resolve(said)
    }
    sent.once('response', (answered) => {
      let text = ''
      answered.setEncoding('latin1')
      answered.on('data', (piece: string) => {
        text += piece
      })
      answered.once('end', () => end(answered.statusCode === 200 ? Number(text) : null))
      answered.once('error', () => end(null))
    })
    sent.once('error', () => end(null))
    sent.end()
  })
}
