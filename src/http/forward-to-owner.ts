import {
  type Agent,
  type ClientRequest,
  type RequestOptions,
  request as sendRequest,
} from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Serve } from './app.js'
import { BODY_BYTES_MAX } from './body.js'
import type { PartReport } from './health-routes.js'
import { createHeldRequests, type HeldRequest, refuseUnread } from './held-requests.js'
import type { OwnerPlace } from './owner-place.js'
import { createReadinessOf, ownerAnswers } from './owner-readiness.js'
import { ambiguousFraming, readRequestHead } from './request-head.js'
import { sendOn } from './send-on.js'
import { unanswered } from './unanswered.js'
import { answerWhole } from './whole-answer.js'

export interface ForwardOptions {
  /** Asked for each request; null: nobody that can be reached is known. */
  readonly owner: () => OwnerPlace | null
  readonly agent: Agent
  /** Whom requests are counted against where that goes by address. */
  readonly clientAddress: (peer: string, forwardedFor: string) => string
  /** What this node says of itself in `/readyz`. */
  readonly report: () => PartReport
  readonly log: { warn(context: object, message: string): void }
  readonly times?: ForwardTimes
}

/** How long is waited. */
export interface ForwardTimes {
  /** A machine that is gone says nothing; one that is there has answered in milliseconds. */
  readonly connectMs: number
  /** For a whole answer, before the owner is looked at; and between two looks, while it is there. */
  readonly lookMs: number
  /** For a whole answer of an owner that is there at each look. */
  readonly answerMs: number
  /** For the next piece of a stream, which has a heartbeat every four seconds. */
  readonly silentMs: number
}

/**
 * What a node answers that does not own the journal: what the owner does. Each request is read, sent to
 * it once, and answered as it answers; streams go on for as long as they are taken.
 */
export interface Forwarder {
  readonly serve: Serve
  /**
   * Breaks off what others than the owner have not answered: one that stands still never will. Called as
   * soon as the owner is another, or this node.
   */
  ownerChanged(): void
  /** From now on it says that it is not ready. Resolves once what is under way was answered, or in time. */
  drain(timeMs: number): Promise<void>
}

/** Requests that wait at once. The owner bounds streams itself. */
export const FORWARDED_MAX = 1_024
const FORWARDED_BYTES_MAX = 32 * 1024 * 1024
/**
 * Of one client: 32 of the longest bodies there may be, or all of its places with 16 KiB each, where real
 * ones are a few hundred bytes. Whoever sends slowly and shows no key takes no more from the others.
 */
const FORWARDED_BYTES_OF_CLIENT_MAX = FORWARDED_BYTES_MAX / 4

export const TIMES: ForwardTimes = {
  connectMs: 3_000,
  // Most answers take milliseconds, and one that waits for the journal is given up after nine seconds.
  lookMs: 15_000,
  // The owner gives an actor up after a minute, before which a call may have waited its turn. To say
  // sooner that nobody knows would be wrong of what is refused in the end, or done.
  answerMs: 90_000,
  silentMs: 20_000,
}
/** Between two lines about an owner that is not reached. */
const SAID_EVERY_MS = 10_000
const DRAIN_POLL_MS = 20

const FORWARDED_FOR = 'x-forwarded-for'

export function createForwarder(options: ForwardOptions): Forwarder {
  const { owner, agent, clientAddress, report, log, times = TIMES } = options
  let isDraining = false
  const held = createHeldRequests({
    heldMax: FORWARDED_MAX,
    bytesMax: FORWARDED_BYTES_MAX,
    bodyBytesMax: BODY_BYTES_MAX,
    ofClientMax: FORWARDED_MAX / 2,
    bytesOfClientMax: FORWARDED_BYTES_OF_CLIENT_MAX,
    isDraining: () => isDraining,
  })
  const underWay = new Map<HeldRequest, UnderWay>()
  const readiness = createReadinessOf({ owner, agent, report, isDraining: () => isDraining })
  let saidMs = Number.NEGATIVE_INFINITY
  let look: { readonly epoch: number; readonly isThere: Promise<boolean> } | null = null

  /** Errors of TLS and of the parser bring whole certificates and answers with them. */
  function say({ name, message, ...more }: Error & { readonly code?: unknown }): void {
    if (performance.now() - saidMs < SAID_EVERY_MS) return
    saidMs = performance.now()
    const err = { name, message, code: more.code ?? null }
    log.warn({ err }, 'a request was not answered by the owner of the journal')
  }

  /** One look at a time, whose answer is that of all who wait. */
  function isThere(place: OwnerPlace): Promise<boolean> {
    if (look?.epoch === place.epoch) return look.isThere
    const mine = {
      epoch: place.epoch,
      isThere: ownerAnswers(agent, place).finally(() => {
        if (look === mine) look = null
      }),
    }
    look = mine
    return mine.isThere
  }

  function failed(one: HeldRequest, error: Error): void {
    say(error)
    one.refuse(unanswered(one.method, underWay.get(one)?.isConnected() === true))
  }

  function forward(one: HeldRequest, client: string): void {
    const place = owner()
    if (place === null) {
      one.refuse(unanswered(one.method, false))
      held.leave(one)
      return
    }
    sendOn(one, {
      send({ headers, ...rest }) {
        const told = { ...rest, headers: forwardedFor(headers, client) }
        const onward = sendRequest({ agent, host: place.host, port: place.port, ...told })
        underWay.set(
          one,
          watched(onward, place, times, () => isThere(place)),
        )
        return onward
      },
      answering() {
        held.leave(one)
      },
      done() {
        underWay.delete(one)
        held.leave(one)
      },
      failed: (error) => failed(one, error),
    })
  }

  return {
    serve(response, incoming) {
      const { framing, xForwardedFor } = readRequestHead(incoming)
      const path = incoming.getUrl()
      if (framing === 'ambiguous') refuseUnread(response, incoming, ambiguousFraming())
      else if (framing === 'length' && path === '/healthz')
        answerWhole(response, 200, { status: 'ok' })
      else if (framing === 'length' && path === '/readyz') readiness(response)
      else {
        const peer = Buffer.from(response.getRemoteAddressAsText()).toString()
        const client = clientAddress(peer, xForwardedFor)
        held.hold(response, incoming, (one) => forward(one, client), client)
      }
    },
    ownerChanged() {
      const epoch = owner()?.epoch ?? null
      for (const each of [...underWay.values()]) {
        if (each.epoch !== epoch) each.breakOff(new Error('another node owns the journal by now'))
      }
    },
    async drain(timeMs) {
      isDraining = true
      const untilMs = performance.now() + timeMs
      while (held.size > 0 && performance.now() < untilMs) await rest(DRAIN_POLL_MS)
    },
  }
}

interface UnderWay {
  readonly epoch: number
  /** Whether the owner may have had it: nothing leaves this node before. */
  isConnected(): boolean
  breakOff(error: Error): void
}

/** Ends what is not answered in time. */
function watched(
  onward: ClientRequest,
  place: OwnerPlace,
  times: ForwardTimes,
  isThere: () => Promise<boolean>,
): UnderWay {
  const at = `${place.host}:${place.port}`
  let isConnected = false
  const breakOff = (error: Error) => void onward.destroy(error)
  const sinceMs = performance.now()
  let isWaited = true
  let unanswered = setTimeout(ask, times.lookMs)
  const waitNoMore = () => {
    isWaited = false
    clearTimeout(unanswered)
  }
  async function ask(): Promise<void> {
    const isLate = performance.now() - sinceMs >= times.answerMs
    const goesOn = !isLate && (await isThere())
    if (!isWaited) return
    if (goesOn) unanswered = setTimeout(ask, times.lookMs)
    else breakOff(new Error(`${at} does not answer`))
  }
  onward.once('response', (answered) => {
    if (answered.headers['transfer-encoding'] === undefined) return
    waitNoMore()
    onward.setTimeout(times.silentMs, () => breakOff(new Error(`${at} is silent amid a stream`)))
  })
  onward.once('close', waitNoMore)
  onward.once('socket', (socket: TLSSocket) => {
    const connected = () => {
      isConnected = true
    }
    if (socket.authorized) {
      connected()
      return
    }
    const unconnected = setTimeout(
      () => breakOff(new Error(`${at} is not reached`)),
      times.connectMs,
    )
    socket.once('secureConnect', connected)
    for (const event of ['secureConnect', 'close']) {
      socket.once(event, () => clearTimeout(unconnected))
    }
  })
  return { epoch: place.epoch, isConnected: () => isConnected, breakOff }
}

/** The owner takes it for the caller's address from nobody but nodes. */
function forwardedFor(given: RequestOptions['headers'], client: string): readonly string[] {
  const kept: string[] = []
  const headers = given as readonly string[]
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    if (name !== FORWARDED_FOR) kept.push(name, headers[at + 1] ?? '')
  }
  return [...kept, FORWARDED_FOR, client]
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
