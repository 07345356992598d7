import { type Agent, request as sendRequest } from 'node:http'
import type { HttpResponse, RoutedApp } from '../http/app.js'
import type { OwnerPlace } from '../http/owner-place.js'
import { readRequestHead } from '../http/request-head.js'

/**
 * How the nodes of a cell hear of what its owner has stored as soon as it has: each asks, and is answered when
 * there is more than it has. What the owner says in the journal twice a second is all there is without a link.
 */
export interface StoredNews {
  /** Told by the owner of each entry that the journal and its store have. */
  stored(epoch: number, seq: number): void
  /**
   * Asks the owner.
   * @returns what it has stored, which may be no more; 0 where it does not answer, after a while
   */
  storedAfter(seq: number): Promise<number>
  /** Answers the others on the link. */
  answerOn(app: Pick<RoutedApp, 'get'>): void
  /** Nobody is kept waiting any more. */
  close(): void
}

export interface StoredNewsOptions {
  readonly agent: Agent
  /** Null: none that can be reached is known. */
  readonly owner: () => OwnerPlace | null
}

const PATH = '/_node/stored'
/** An answer comes by then, with news or without. */
const HELD_MS = 2_000
const ANSWER_MS_MAX = 4_000
/** Where the owner does not answer, or this node has just taken over. */
const AGAIN_MS = 500
/** Nodes of a cell that wait at once, each once. */
const WAITING_MAX = 256

interface Waiting {
  readonly after: number
  readonly answer: () => void
}

export function createStoredNews({ agent, owner }: StoredNewsOptions): StoredNews {
  let own = { epoch: 0, seq: 0 }
  const waiting = new Set<Waiting>()
  let asked: Promise<number> | null = null

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
    const place = owner()
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
    answerOn(app) {
      app.get(`${PATH}/:epoch/:after`, (response, request) => {
        // What callers ask another node comes by the link as well, and says whose it is.
        const isOfNode = readRequestHead(request).xForwardedFor === ''
        const [epoch, after] = [0, 1].map((index) => Number(request.getParameter(index)))
        if (isOfNode && epoch === own.epoch && Number.isSafeInteger(after))
          hold(response, after ?? 0)
        else answer(response, '404 Not Found', '')
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

/** @returns null where it does not say */
function storedAt(
  agent: Agent,
  { host, port, epoch }: OwnerPlace,
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
