import { type Agent, type IncomingMessage, request as sendRequest } from 'node:http'
import type { HttpResponse } from './app.js'
import { type PartReport, partsShownToAll, shownToAll } from './health-routes.js'
import type { LeaderPlace } from './leader-place.js'
import { answerWhole } from './whole-answer.js'

interface ReadinessOptions {
  readonly leader: () => Pick<LeaderPlace, 'host' | 'port'> | null
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
 * Answers `/readyz` on a node that forwards to the leader: as the leader does, with a part about
 * this node, and not ready if no leader can be reached. Concurrent requests share one request to
 * the leader.
 */
export function createReadinessOf(options: ReadinessOptions): (response: HttpResponse) => void {
  const { leader, agent, report, isDraining } = options
  let asking: Promise<Readiness> | null = null

  async function ask(): Promise<Readiness> {
    const own = shownToAll(report())
    const place = leader()
    const answer = place === null ? null : await readyAt(agent, place).catch(() => null)
    // A node that has just become the leader refuses every request until it serves: it reports no parts.
    if (answer === null || !isReadiness(answer.body)) {
      return {
        status: 503,
        body: { status: 'not_ready', draining: false, parts: { journal: own } },
      }
    }
    const seen = seenFromHere(answer)
    // The leader shows more by the link than everybody may read.
    const parts = { ...partsShownToAll(seen.body.parts), node: nodePart(own) }
    return { status: seen.status, body: { ...seen.body, parts } }
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

/** Another process wrote the body, so its shape is checked before anything reads it. */
function isReadiness(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('parts' in body)) return false
  const { parts } = body
  if (typeof parts !== 'object' || parts === null) return false
  return Object.values(parts).every((part) => typeof part === 'object' && part !== null)
}

/**
 * Parts that belong to the reporting node: another node has a different disk, clock, lists, store
 * and quorum signer. The other parts, such as the journal, are the same for all nodes.
 */
const OF_ONE_NODE: ReadonlySet<string> = new Set(['disk', 'clock', 'lists', 'store', 'quorum'])

/**
 * A leader that refuses writes for a reason of its own is not ready, but this node is: it still
 * serves reads, which a load balancer would end if every node reported not ready.
 */
function seenFromHere(answer: Readiness): Readiness {
  const { draining, parts } = answer.body
  const down = Object.entries(parts).filter(([, { status }]) => status === 'down')
  const isOfLeader = down.length > 0 && down.every(([name]) => OF_ONE_NODE.has(name))
  if (answer.status === 200 || draining || !isOfLeader) return answer
  const degraded = down.map(([name, part]) => [name, { ...part, status: 'degraded' as const }])
  const body = { status: 'ready', draining, parts: { ...parts, ...Object.fromEntries(degraded) } }
  return { status: 200, body }
}

/** A standby waits by design; that it could not take over needs attention. */
function nodePart(facts: PartReport): PartReport {
  return { ...facts, status: facts.hindered === true ? 'degraded' : 'up' }
}

/** Whether the leader answers at all, whatever it reports. A frozen or unreachable one does not. */
export function leaderAnswers(
  agent: Agent,
  place: Pick<LeaderPlace, 'host' | 'port'>,
): Promise<boolean> {
  return readyAt(agent, place).then(
    () => true,
    () => false,
  )
}

async function readyAt(
  agent: Agent,
  { host, port }: Pick<LeaderPlace, 'host' | 'port'>,
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
