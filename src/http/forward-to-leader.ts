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
import type { LeaderPlace } from './leader-place.js'
import { createReadinessOf, leaderAnswers } from './leader-readiness.js'
import { ambiguousFraming, readRequestHead } from './request-head.js'
import { sendOn } from './send-on.js'
import { unanswered } from './unanswered.js'
import { answerWhole } from './whole-answer.js'

export interface ForwardOptions {
  /** Called for each request; null if no reachable leader is known. */
  readonly leader: () => LeaderPlace | null
  readonly agent: Agent
  /** Returns the address that limits by address count. */
  readonly clientAddress: (peer: string, forwardedFor: string) => string
  /** This node's own part of `/readyz`. */
  readonly report: () => PartReport
  readonly log: { warn(context: object, message: string): void }
  /**
   * The transaction that a call has made, as far as this node knows. By default none is known.
   * @param headers names and values, alternating
   */
  readonly transactionOf?: (headers: readonly string[]) => string | null
  readonly times?: ForwardTimes
}

/** How long the forwarder waits. */
export interface ForwardTimes {
  /** A machine that is gone does not answer; one that is there answers in milliseconds. */
  readonly connectMs: number
  /** Time to wait for a whole answer before the leader is probed, and between two probes. */
  readonly probeMs: number
  /** Time to wait for a whole answer of a leader that answers each probe. */
  readonly answerMs: number
  /** Time to wait for the next piece of a stream, which has a heartbeat every four seconds. */
  readonly silentMs: number
}

/**
 * Answers for a node that does not lead the journal, by forwarding: each request is read, sent to
 * the leader once, and answered as the leader answers. Streams continue as long as callers take
 * them.
 */
export interface Forwarder {
  readonly serve: Serve
  /**
   * Breaks off requests that a former leader has not answered, because a frozen one never will.
   * Call it as soon as another node, or this one, leads.
   */
  leaderChanged(): void
  /**
   * Reports not ready from now on. Resolves once requests under way are answered, or when the time
   * is up.
   */
  drain(timeMs: number): Promise<void>
}

/** The most requests that wait at once. The leader bounds streams itself. */
export const FORWARDED_MAX = 1_024
const FORWARDED_BYTES_MAX = 32 * 1024 * 1024
/**
 * Bound for one client: 32 of the longest bodies, or all of its places with 16 KiB each; real
 * bodies have a few hundred bytes. A client that sends slowly and shows no key takes no more than
 * this from others.
 */
const FORWARDED_BYTES_OF_CLIENT_MAX = FORWARDED_BYTES_MAX / 4

export const TIMES: ForwardTimes = {
  connectMs: 3_000,
  // With a probe, which takes two seconds at most, a caller learns within five seconds that the
  // leader is gone. Most answers take milliseconds. If the leader is there the forwarder waits, for
  // example while the leader waits for the journal.
  probeMs: 2_500,
  // The leader gives up an actor after a minute, before which a call may have waited its turn. An
  // earlier answer "outcome unknown" would be wrong for a call that is refused or done in the end.
  answerMs: 90_000,
  silentMs: 20_000,
}
/** Pause between two log lines about a leader that cannot be reached. */
const SAID_EVERY_MS = 10_000
const DRAIN_POLL_MS = 20

const FORWARDED_FOR = 'x-forwarded-for'

export function createForwarder(options: ForwardOptions): Forwarder {
  const { leader, agent, clientAddress, report, log, times = TIMES } = options
  const { transactionOf = () => null } = options
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
  const readiness = createReadinessOf({ leader, agent, report, isDraining: () => isDraining })
  let saidMs = Number.NEGATIVE_INFINITY
  let probe: { readonly epoch: number; readonly isThere: Promise<boolean> } | null = null

  /**
   * Errors of TLS and of the parser contain whole certificates and answers, so only these fields
   * are logged.
   */
  function say({ name, message, ...more }: Error & { readonly code?: unknown }): void {
    if (performance.now() - saidMs < SAID_EVERY_MS) return
    saidMs = performance.now()
    const err = { name, message, code: more.code ?? null }
    log.warn({ err }, 'the leader of the journal did not answer a request')
  }

  /** Probes one at a time; all waiting requests share the answer. */
  function isThere(place: LeaderPlace): Promise<boolean> {
    if (probe?.epoch === place.epoch) return probe.isThere
    const mine = {
      epoch: place.epoch,
      isThere: leaderAnswers(agent, place).finally(() => {
        if (probe === mine) probe = null
      }),
    }
    probe = mine
    return mine.isThere
  }

  function failed(one: HeldRequest, error: Error): void {
    say(error)
    const isBegun = underWay.get(one)?.isConnected() === true
    one.refuse(unanswered(one.method, isBegun, () => transactionOf(one.headers)))
  }

  function forward(one: HeldRequest, client: string): void {
    const place = leader()
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
    leaderChanged() {
      const epoch = leader()?.epoch ?? null
      for (const each of [...underWay.values()]) {
        if (each.epoch !== epoch) each.breakOff(new Error('another node leads the journal now'))
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
  /** Whether the leader may have received the request; nothing leaves this node before that. */
  isConnected(): boolean
  breakOff(error: Error): void
}

/** Ends requests that are not answered in time. */
function watched(
  onward: ClientRequest,
  place: LeaderPlace,
  times: ForwardTimes,
  isThere: () => Promise<boolean>,
): UnderWay {
  const at = `${place.host}:${place.port}`
  let isConnected = false
  const breakOff = (error: Error) => void onward.destroy(error)
  const sinceMs = performance.now()
  let isWaited = true
  let unanswered = setTimeout(ask, times.probeMs)
  const waitNoMore = () => {
    isWaited = false
    clearTimeout(unanswered)
  }
  async function ask(): Promise<void> {
    const isLate = performance.now() - sinceMs >= times.answerMs
    const goesOn = !isLate && (await isThere())
    if (!isWaited) return
    if (goesOn) unanswered = setTimeout(ask, times.probeMs)
    else breakOff(new Error(`${at} does not answer`))
  }
  onward.once('response', (answered) => {
    if (answered.headers['transfer-encoding'] === undefined) return
    waitNoMore()
    onward.setTimeout(times.silentMs, () =>
      breakOff(new Error(`${at} stopped sending within a stream`)),
    )
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
      () => breakOff(new Error(`${at} cannot be reached`)),
      times.connectMs,
    )
    socket.once('secureConnect', connected)
    for (const event of ['secureConnect', 'close']) {
      socket.once(event, () => clearTimeout(unconnected))
    }
  })
  return { epoch: place.epoch, isConnected: () => isConnected, breakOff }
}

/** The leader trusts this header only from nodes. */
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
