import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { request as sendRequest } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { fault } from '../errors/fault.js'
import type { Serve } from './app.js'
import { BODY_BYTES_MAX } from './body.js'
import type { PartReport } from './health-routes.js'
import { createHeldRequests, type HeldRequest, refuse } from './held-requests.js'
import { ambiguousFraming, readRequestHead } from './request-head.js'
import { sendOn } from './send-on.js'
import { answerWhole } from './whole-answer.js'

/** Who owns the journal, and answers. */
export interface OwnerPlace {
  readonly epoch: number
  readonly host: string
  readonly port: number
}

export interface ForwardOptions {
  /** Asked for each request; null: nobody that can be reached is known. */
  readonly owner: () => OwnerPlace | null
  readonly agent: Agent
  /** Whom requests are counted against where that goes by address. */
  readonly clientAddress: (peer: string, forwardedFor: string) => string
  /** What this node says of itself in `/readyz`. */
  readonly report: () => PartReport
  readonly log: { warn(context: object, message: string): void }
}

/**
 * What a node answers that does not own the journal: what the owner does. Each request is read, sent to
 * it, and answered as it answers; streams go on for as long as they are taken.
 */
export interface Forwarder {
  readonly serve: Serve
  /**
   * Breaks off what others than the owner have not answered: one that stands still never will. Called as
   * soon as the owner is another, or this node.
   */
  ownerChanged(): void
}

/** As many connections as one node has to another; streams keep theirs. */
export const FORWARDED_MAX = 1_024
const FORWARDED_BYTES_MAX = 32 * 1024 * 1024

/** A machine that is gone says nothing; one that is there has answered in milliseconds. */
const CONNECT_MS_MAX = 3_000
/** The owner itself answers within ten seconds, also where its journal does not. */
const ANSWER_MS_MAX = 15_000
const READY_MS_MAX = 2_000
/** Between two lines about an owner that is not reached. */
const SAID_EVERY_MS = 10_000

const UNREACHED =
  'This node passes requests on to the one that owns the journal, which it does not reach now; nothing was done.'
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const FORWARDED_FOR = 'x-forwarded-for'

export function createForwarder(options: ForwardOptions): Forwarder {
  const { owner, agent, clientAddress, report, log } = options
  const held = createHeldRequests({
    heldMax: FORWARDED_MAX,
    bytesMax: FORWARDED_BYTES_MAX,
    bodyBytesMax: BODY_BYTES_MAX,
  })
  const underWay = new Map<ClientRequest, number>()
  let saidMs = Number.NEGATIVE_INFINITY

  function say(err: Error): void {
    if (performance.now() - saidMs < SAID_EVERY_MS) return
    saidMs = performance.now()
    log.warn({ err }, 'the owner of the journal is not reached: callers are told to ask again')
  }

  function failed(one: HeldRequest, onward: ClientRequest, error: Error): void {
    say(error)
    const wasSent = secured.has(onward) && !READS.has(one.method)
    if (wasSent) refuse(one.response, fault('OUTCOME_UNKNOWN', { reason: 'standby' }))
    else refuse(one.response, fault('WRITES_STOPPED', { reason: 'standby' }, UNREACHED))
  }

  function forward(one: HeldRequest, client: string, closes: boolean): void {
    const place = owner()
    if (place === null) {
      refuse(one.response, fault('WRITES_STOPPED', { reason: 'standby' }, UNREACHED))
      held.leave(one)
      return
    }
    const onward = sendOn(one, {
      send: ({ headers, ...rest }) =>
        request(agent, place, { ...rest, headers: forwardedFor(headers, client) }),
      closes,
      done() {
        held.leave(one)
        if (onward !== null) underWay.delete(onward)
      },
      failed: (broken, error) => failed(one, broken, error),
    })
    if (onward !== null) underWay.set(onward, place.epoch)
  }

  async function ready(): Promise<{ status: number; body: unknown }> {
    const node = report()
    const place = owner()
    const asked = place === null ? null : await readyAt(agent, place).catch(() => null)
    if (asked === null) {
      return {
        status: 503,
        body: { status: 'not_ready', draining: false, parts: { journal: node } },
      }
    }
    const { status, body } = asked
    return { status, body: { ...body, parts: { ...body.parts, node: { ...node, status: 'up' } } } }
  }

  return {
    serve(response, incoming) {
      const path = incoming.getUrl()
      if (path === '/healthz') answerWhole(response, 200, { status: 'ok' })
      else if (path === '/readyz') {
        let isGone = false
        response.onAborted(() => {
          isGone = true
        })
        void ready().then(({ status, body }) => {
          if (!isGone) answerWhole(response, status, body)
        })
      } else {
        const { framing, xForwardedFor } = readRequestHead(incoming)
        if (framing === 'ambiguous') {
          refuse(response, ambiguousFraming())
          return
        }
        const peer = Buffer.from(response.getRemoteAddressAsText()).toString()
        const client = clientAddress(peer, xForwardedFor)
        held.hold(response, incoming, (one) => forward(one, client, framing === 'chunked'))
      }
    },
    ownerChanged() {
      const epoch = owner()?.epoch ?? null
      for (const [onward, of] of underWay) {
        if (of !== epoch) onward.destroy(new Error('another node owns the journal by now'))
      }
    },
  }
}

/** Requests whose connection stood: whether the owner had them nobody can tell here. */
const secured = new WeakSet<ClientRequest>()

function request(
  agent: Agent,
  { host, port }: OwnerPlace,
  options: Omit<RequestOptions, 'agent' | 'host' | 'port'>,
): ClientRequest {
  const onward = sendRequest({ agent, host, port, ...options })
  const unanswered = setTimeout(() => {
    onward.destroy(new Error(`${host}:${port} does not answer`))
  }, ANSWER_MS_MAX)
  onward.once('response', () => clearTimeout(unanswered))
  onward.once('close', () => clearTimeout(unanswered))
  onward.once('socket', (socket: TLSSocket) => {
    if (socket.authorized) {
      secured.add(onward)
      return
    }
    const unconnected = setTimeout(() => {
      onward.destroy(new Error(`${host}:${port} is not reached`))
    }, CONNECT_MS_MAX)
    socket.once('secureConnect', () => {
      clearTimeout(unconnected)
      secured.add(onward)
    })
    socket.once('close', () => clearTimeout(unconnected))
  })
  return onward
}

/** The owner takes it for the caller's address from nobody but nodes. */
function forwardedFor(headers: unknown, client: string): readonly string[] {
  const kept: string[] = []
  const given = headers as readonly string[]
  for (let at = 0; at < given.length; at += 2) {
    const name = given[at] ?? ''
    if (name !== FORWARDED_FOR) kept.push(name, given[at + 1] ?? '')
  }
  return [...kept, FORWARDED_FOR, client]
}

interface Readiness {
  readonly status: string
  readonly parts: Readonly<Record<string, PartReport>>
}

async function readyAt(
  agent: Agent,
  { host, port }: OwnerPlace,
): Promise<{ status: number; body: Readiness }> {
  const asked = sendRequest({ agent, host, port, path: '/readyz' })
  const late = setTimeout(() => asked.destroy(new Error('no answer')), READY_MS_MAX)
  try {
    const answered = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve)
      asked.once('error', reject)
      asked.end()
    })
    const pieces: Buffer[] = []
    for await (const piece of answered) pieces.push(piece)
    const body: Readiness = JSON.parse(Buffer.concat(pieces).toString())
    return { status: answered.statusCode ?? 503, body }
  } finally {
    clearTimeout(late)
  }
}
