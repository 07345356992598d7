import { type Agent, request as sendRequest } from 'node:http'
import type { RoutedApp } from '../http/app.js'
import type { LeaderPlace } from '../http/leader-place.js'
import { readRequestHead } from '../http/request-head.js'
import { answerWhole } from '../http/whole-answer.js'

/**
 * Tells a leader which standbys wait. It cannot know them, because a standby only reads the
 * journal. Before the leader ends, it therefore asks in the journal, and each standby that could
 * take over answers once over the link. Nothing is sent unless the leader asks.
 */
interface WaitingNodes {
  /** Answers the leader's question; tries again until the leader has received the answer. */
  say(asked: string): void
  /** Resolves to whether a standby answers the question in time. */
  any(asked: string, timeMs: number): Promise<boolean>
  /** Receives the answers of the standbys on the link. */
  answerOn(app: Pick<RoutedApp, 'get'>): void
}

interface WaitingNodesOptions {
  readonly agent: Agent
  /** Null if no reachable leader is known. */
  readonly leader: () => Pick<LeaderPlace, 'host' | 'port'> | null
}

const PATH = '/_node/waits'
const ANSWER_MS_MAX = 2_000

export function createWaitingNodes({ agent, leader }: WaitingNodesOptions): WaitingNodes {
  const hears = new Map<string, () => void>()
  /** The question whose answer the leader has received, or that is on its way to it. */
  let said = ''
  return {
    say(asked) {
      const place = leader()
      if (place === null || asked === said) return
      said = asked
      // A failed answer is sent again at the next poll.
      void isHeard(agent, place, asked).then((heard) => {
        if (!heard && said === asked) said = ''
      })
    },
    any: (asked, timeMs) =>
      new Promise((resolve) => {
        const end = (isSo: boolean) => {
          clearTimeout(late)
          hears.delete(asked)
          resolve(isSo)
        }
        const late = setTimeout(end, timeMs, false)
        hears.set(asked, () => end(true))
      }),
    answerOn(app) {
      app.get(`${PATH}/:asked`, (response, request) => {
        // Forwarded requests of callers also arrive on this link, and they name their caller.
        const isOfNode = readRequestHead(request).xForwardedFor === ''
        const hear = isOfNode ? hears.get(request.getParameter(0)) : undefined
        answerWhole(response, hear === undefined ? 404 : 200, {})
        hear?.()
      })
    },
  }
}

function isHeard(
  agent: Agent,
  { host, port }: Pick<LeaderPlace, 'host' | 'port'>,
  asked: string,
): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = sendRequest({ agent, host, port, path: `${PATH}/${asked}` })
    const late = setTimeout(() => sent.destroy(new Error('no answer')), ANSWER_MS_MAX)
    const end = (isSo: boolean) => {
      clearTimeout(late)
      resolve(isSo)
    }
    sent.once('response', (answered) => {
      answered.resume()
      end(answered.statusCode === 200)
    })
    sent.once('error', () => end(false))
    sent.end()
  })
}
