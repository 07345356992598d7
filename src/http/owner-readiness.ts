import { type Agent, type IncomingMessage, request as sendRequest } from 'node:http'
import type { HttpResponse } from './app.js'
import type { PartReport } from './health-routes.js'
import type { OwnerPlace } from './owner-place.js'
import { answerWhole } from './whole-answer.js'

export interface ReadinessOptions {
  readonly owner: () => Pick<OwnerPlace, 'host' | 'port'> | null
  readonly agent: Agent
  readonly report: () => PartReport
  readonly isDraining: () => boolean
}

interface Readiness {
  readonly status: number
  readonly body: {
    readonly status: string
    readonly draining: boolean
    readonly parts: Readonly<Record<string, PartReport>>
  }
}

const ANSWER_MS_MAX = 2_000
const ANSWER_BYTES_MAX = 256 * 1024

/**
 * What `/readyz` says of a node that has the owner answer: as the owner, with a part of its own; and not
 * ready where none is reached. The owner is asked by one at a time, whose answer is all of theirs.
 */
export function createReadinessOf(options: ReadinessOptions): (response: HttpResponse) => void {
  const { owner, agent, report, isDraining } = options
  let asking: Promise<Readiness> | null = null

  async function ask(): Promise<Readiness> {
    const own = report()
    const place = owner()
    const answer = place === null ? null : await readyAt(agent, place).catch(() => null)
    if (answer === null) {
      return {
        status: 503,
        body: { status: 'not_ready', draining: false, parts: { journal: own } },
      }
    }
    const parts = { ...answer.body.parts, node: nodePart(own) }
    return { status: answer.status, body: { ...answer.body, parts } }
  }

  async function answered(): Promise<Readiness> {
    if (isDraining()) {
      return { status: 503, body: { status: 'not_ready', draining: true, parts: {} } }
    }
    asking ??= ask().finally(() => {
      asking = null
    })
    return asking
  }

  return (response) => {
    let isGone = false
    response.onAborted(() => {
      isGone = true
    })
    void answered().then(({ status, body }) => {
      if (!isGone) answerWhole(response, status, body)
    })
  }
}

/** That it waits is what it is for; that it could not take over is worth a look. */
function nodePart({ reason, ...facts }: PartReport): PartReport {
  return facts.hindered === true
    ? { ...facts, status: 'degraded', ...(reason === undefined ? {} : { reason }) }
    : { ...facts, status: 'up' }
}

/** Whether it answers, whatever it says of itself: one that is frozen, or not reached, does not. */
export function ownerAnswers(
  agent: Agent,
  place: Pick<OwnerPlace, 'host' | 'port'>,
): Promise<boolean> {
  return readyAt(agent, place).then(
    () => true,
    () => false,
  )
}

async function readyAt(
  agent: Agent,
  { host, port }: Pick<OwnerPlace, 'host' | 'port'>,
): Promise<Readiness> {
  const asked = sendRequest({ agent, host, port, path: '/readyz' })
  const late = setTimeout(() => asked.destroy(new Error('no answer')), ANSWER_MS_MAX)
  try {
    const answered = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve)
      asked.once('error', reject)
      asked.end()
    })
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of answered as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > ANSWER_BYTES_MAX) throw new Error('no answer of /readyz')
      pieces.push(piece)
    }
    const body: Readiness['body'] = JSON.parse(Buffer.concat(pieces).toString())
    return { status: answered.statusCode ?? 503, body }
  } finally {
    clearTimeout(late)
  }
}
