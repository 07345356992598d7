import { createConnection, type Socket } from 'node:net'
import { readFrames, writeFrame } from './frames.js'
import { CALL_TIMEOUT_MS } from './limits.js'
import { Refusal, refusalCode } from './refusal.js'

/** The peer did not answer: whether it did what was asked is unknown. */
export class Unanswered extends Error {
  constructor(peer: string, why: string) {
    super(`${peer}: ${why}`)
    this.name = 'Unanswered'
  }
}

/** A connection that comes back by itself. */
export interface SocketClient {
  readonly connected: boolean
  /**
   * @throws Unanswered when there is no connection, it breaks, or the time is over
   * @throws Refusal as the peer answered
   */
  call(method: string, parameters: readonly unknown[]): Promise<unknown>
  /** Ends the present connection; a new one follows. */
  reset(): void
  close(): void
}

export interface SocketClientOptions {
  readonly path: string
  /** For messages: which domain this is. */
  readonly peer: string
  /** Each time a connection stands. */
  readonly onConnect: () => void
  /** Each time one is lost. */
  readonly onDisconnect: () => void
}

const CALLS_IN_FLIGHT_MAX = 256
/** First and longest wait between attempts; a Unix socket answers at once or not at all. */
const BACKOFF_MS_MIN = 25
const BACKOFF_MS_MAX = 1_000

interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

export function connectSocket(options: SocketClientOptions): SocketClient {
  const pending = new Map<number, PendingCall>()
  let socket: Socket | null = null
  let connected = false
  let closed = false
  let lastId = 0
  let backoffMs = BACKOFF_MS_MIN
  let retry: NodeJS.Timeout | null = null

  function open(): void {
    const opening = createConnection(options.path)
    socket = opening
    opening.on('connect', () => {
      connected = true
      backoffMs = BACKOFF_MS_MIN
      options.onConnect()
    })
    opening.on('error', () => opening.destroy())
    opening.on('close', () => lost(opening))
    readFrames(opening, settle, () => {})
  }

  function lost(which: Socket): void {
    if (socket !== which) return
    const was = connected
    socket = null
    connected = false
    for (const call of pending.values()) {
      clearTimeout(call.timer)
      call.reject(new Unanswered(options.peer, 'connection lost'))
    }
    pending.clear()
    if (was) options.onDisconnect()
    if (closed) return
    retry = setTimeout(open, backoffMs)
    backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)
  }

  function settle(message: unknown): void {
    if (!Array.isArray(message) || message.length !== 3) throw new Error('not an answer')
    const [id, status, value] = message as unknown[]
    const call = typeof id === 'number' ? pending.get(id) : undefined
    if (call === undefined || typeof id !== 'number') return
    pending.delete(id)
    clearTimeout(call.timer)
    if (status === 0) call.resolve(value)
    else call.reject(new Refusal(refusalCode(status), `${options.peer} answered ${String(value)}`))
  }

  open()
  return {
    get connected() {
      return connected
    },
    call(method, parameters) {
      const using = socket
      if (using === null || !connected) {
        return Promise.reject(new Unanswered(options.peer, 'not connected'))
      }
      if (pending.size >= CALLS_IN_FLIGHT_MAX) {
        return Promise.reject(new Unanswered(options.peer, 'too many calls in flight'))
      }
      const id = ++lastId
      return new Promise((resolve, reject) => {
        // A peer that holds a call this long is stuck: the connection goes, and with it every
        // answer that could still arrive late.
        const timer = setTimeout(() => {
          pending.delete(id)
          reject(new Unanswered(options.peer, 'timed out'))
          using.destroy()
        }, CALL_TIMEOUT_MS)
        pending.set(id, { resolve, reject, timer })
        try {
          writeFrame(using, [id, method, parameters])
        } catch (error) {
          pending.delete(id)
          clearTimeout(timer)
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
