import { type Agent, request as sendRequest } from 'node:http'
import type { RoutedApp } from '../http/app.js'
import type { OwnerPlace } from '../http/owner-place.js'
import { readRequestHead } from '../http/request-head.js'
import { answerWhole } from '../http/whole-answer.js'

/**
 * Which nodes wait for a journal its owner does not know: they read. So it asks in the journal when it is to
 * end, and one that could go on says so by the link, once. Nothing is said as long as nobody asks.
 */
export interface WaitingNodes {
  /** To the owner, until it has heard it. */
  say(asked: string): void
  /** Whether one says so in time. */
  any(asked: string, timeMs: number): Promise<boolean>
  /** Hears on the link what the others say. */
  answerOn(app: Pick<RoutedApp, 'get'>): void
}

export interface WaitingNodesOptions {
  readonly agent: Agent
  /** Null: none that can be reached is known. */
  readonly owner: () => Pick<OwnerPlace, 'host' | 'port'> | null
}

const PATH = '/_node/waits'
const ANSWER_MS_MAX = 2_000

export function createWaitingNodes({ agent, owner }: WaitingNodesOptions): WaitingNodes {
  const hears = new Map<string, () => void>()
  /** Heard by the owner, or on its way to it. */
  let said = ''
  return {
    say(asked) {
      const place = owner()
      if (place === null || asked === said) return
      said = asked
      // One that did not hear it is told at the next look.
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
        // What callers ask another node comes by the link as well, and says whose it is.
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
  { host, port }: Pick<OwnerPlace, 'host' | 'port'>,
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
