import type { Socket } from 'node:net'
import { CALLS_IN_FLIGHT_MAX, type CallClass } from './call-classes.js'
import { type Endpoint, openSocket, placeAt, placesOf, reasonOf } from './endpoint.js'
import { readFrames, writeFrame } from './frames.js'
import { CALL_TIMEOUT_MS } from './limits.js'
import { classOf } from './methods/ask.js'
import { Refusal, refusalCode } from './refusal.js'

/** The peer did not answer: whether it did the work is unknown. */
export class Unanswered extends Error {
  constructor(peer: string, why: string) {
    super(`${peer}: ${why}`)
    this.name = 'Unanswered'
  }
}

/** A connection that reconnects automatically. */
export interface SocketClient {
  readonly connected: boolean
  /** True while the peer answers on this connection: a hung process stays connected. */
  readonly answering: boolean
  /**
   * Sends a list of parameters as it is; `methods/ask.ts` calls methods with named fields.
   * @throws Unanswered when there is no connection, it breaks, or the time runs out
   * @throws Refusal as the peer answered; OVERLOADED, with nothing sent, for console work beyond
   * its share of the window
   */
  call(method: string, parameters: readonly unknown[]): Promise<unknown>
  /** Ends the present connection; a new one follows. */
  reset(): void
  close(): void
}

export interface SocketClientOptions {
  readonly endpoint: Endpoint
  /** The peer's name in messages. */
  readonly peer: string
  /** Called each time a connection is made. */
  readonly onConnect: () => void
  /** Called each time a connection is lost. */
  readonly onDisconnect: () => void
  /**
   * Called with the reason each time an attempt fails, or the peer does not answer on a connection.
   */
  readonly onUnanswered?: (why: string) => void
}

/**
 * The shortest and longest pause between attempts. The backoff restarts once the peer has answered:
 * over TLS a client is connected before it learns that its certificate is refused.
 */
const BACKOFF_MS_MIN = 25
const BACKOFF_MS_MAX = 1_000
/** Used when the peer may be at another address, which serves as soon as it has taken over. */
const BACKOFF_OF_PLACES_MS_MAX = 200

/** A peer that leaves a ping unanswered for this long counts as not answering. */
const ASK_EVERY_MS = 2_000
/** The id of a call whose answer nobody awaits, below all other ids. */
const PING_ID = 0

interface PendingCall {
  readonly callClass: CallClass
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  /** Fires once; a call that timed out stays, because the peer still works on it. */
  readonly timer: NodeJS.Timeout
}

export function connectSocket(options: SocketClientOptions): SocketClient {
  const pending = new Map<number, PendingCall>()
  const inFlight: Record<CallClass, number> = { signing: 0, lookup: 0, console: 0 }
  /**
   * Counts answers to calls, without pings: a peer whose event loop runs may still make no
   * signature.
   */
  let answers = 0
  /** Counts all answers, including those to pings. */
  let heard = 0
  let socket: Socket | null = null
  let connected = false
  let answering = false
  let asking: NodeJS.Timeout | null = null
  let closed = false
  let lastId = 0
  let backoffMs = BACKOFF_MS_MIN
  let retry: NodeJS.Timeout | null = null
  let turn = 0
  const backoffMsMax = placesOf(options.endpoint) > 1 ? BACKOFF_OF_PLACES_MS_MAX : BACKOFF_MS_MAX

  function open(): void {
    const opening = openSocket(placeAt(options.endpoint, turn++), () => {
      connected = true
      askWhether(opening)
      options.onConnect()
    })
    socket = opening
    let fault = new Error(
      'the connection ended before an answer: is the certificate of this side refused, or too often connected?',
    )
    opening.on('error', (error) => {
      fault = error
      opening.destroy()
    })
    opening.on('close', () => lost(opening, fault))
    readFrames(opening, settle, () => {})
  }

  /** Sends one ping at a time: while one is unanswered, no other follows. */
  function askWhether(using: Socket): void {
    let before = heard
    const ask = () => {
      before = heard
      writeFrame(using, [PING_ID, 'ping', []])
    }
    ask()
    asking = setInterval(() => {
      if (heard !== before) ask()
      // Decided after already received data is read: this process may have been the one that hung.
      else setImmediate(() => (answering &&= heard !== before))
    }, ASK_EVERY_MS)
    asking.unref()
  }

  function lost(which: Socket, fault: Error): void {
    if (socket !== which) return
    const was = connected
    if (!answering && !closed) options.onUnanswered?.(reasonOf(fault))
    socket = null
    connected = false
    answering = false
    if (asking !== null) clearInterval(asking)
    for (const [id, call] of pending) {
      drop(id, call)
      call.reject(new Unanswered(options.peer, 'connection lost'))
    }
    if (was) options.onDisconnect()
    if (closed) return
    retry = setTimeout(open, backoffMs)
    backoffMs = Math.min(backoffMs * 2, backoffMsMax)
  }

  function drop(id: number, { callClass, timer }: PendingCall): void {
    pending.delete(id)
    inFlight[callClass]--
    clearTimeout(timer)
  }

  /**
   * Gives up a slow call by itself; a late answer is ignored. The connection is dropped, with all
   * other calls, only when a signature was waiting and the peer sent nothing since, or when
   * unanswered signatures fill their share. Console work may be slow: its share fills, and the peer
   * ends what takes too long.
   */
  function giveUp(using: Socket, since: number, callClass: CallClass): void {
    if (callClass === 'console') return
    const isSilent = answers === since
    const isFull = inFlight.signing >= CALLS_IN_FLIGHT_MAX.signing
    if (isSilent || isFull) using.destroy()
  }

  function settle(message: unknown): void {
    if (!Array.isArray(message) || message.length !== 3) throw new Error('not an answer')
    const [id, status, value] = message as unknown[]
    heard++
    answering = true
    if (id === PING_ID) {
      backoffMs = BACKOFF_MS_MIN
      return
    }
    answers++
    const call = typeof id === 'number' ? pending.get(id) : undefined
    if (call === undefined || typeof id !== 'number') return
    drop(id, call)
    if (status === 0) call.resolve(value)
    else call.reject(new Refusal(refusalCode(status), `${options.peer} answered ${String(value)}`))
  }

  open()
  return {
    get connected() {
      return connected
    },
    get answering() {
      return answering
    },
    call(method, parameters) {
      const using = socket
      if (using === null || !connected) {
        return Promise.reject(new Unanswered(options.peer, 'not connected'))
      }
      const callClass = classOf(method)
      if (inFlight[callClass] >= CALLS_IN_FLIGHT_MAX[callClass]) {
        return Promise.reject(noRoom(options.peer, callClass))
      }
      const id = ++lastId
      const since = answers
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Unanswered(options.peer, 'timed out'))
          giveUp(using, since, callClass)
        }, CALL_TIMEOUT_MS)
        const call = { callClass, resolve, reject, timer }
        pending.set(id, call)
        inFlight[callClass]++
        try {
          writeFrame(using, [id, method, parameters])
        } catch (error) {
          drop(id, call)
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    },
    reset() {
      socket?.destroy()
    },
    close() {
      closed = true
      if (retry !== null) clearTimeout(retry)
      socket?.destroy()
    },
  }
}

function noRoom(peer: string, callClass: CallClass): Error {
  return callClass === 'console'
    ? new Refusal('OVERLOADED', `${peer}: too much console work`)
    : new Unanswered(peer, 'too many calls in flight')
}
