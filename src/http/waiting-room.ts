import { request as sendRequest } from 'node:http'
import { fault } from '../errors/fault.js'
import type { Serve } from './app.js'
import {
  createHeldRequests,
  type HeldBounds,
  type HeldRequest,
  refuseUnread,
} from './held-requests.js'
import { readRequestHead } from './request-head.js'
import { sendOn } from './send-on.js'
import { answerWhole } from './whole-answer.js'

/**
 * Holds the requests that reach a service before it serves: its predecessor has closed the port,
 * and the store is not open yet. Each request is read, kept, and sent to this same port once the
 * routes exist, so that it is handled like all others. Owns what it holds.
 */
interface WaitingRoom {
  readonly serve: Serve
  /** Sends all held requests; later ones are not held. */
  open(host: string, port: number): void
}

/** A thousand callers, twice over; each costs a connection, which waits anyway. */
const HELD_MAX = 2_048
/** Room for a few bodies of 256 KiB; real ones have a few hundred bytes. */
const HELD_BYTES_MAX = 32 * 1024 * 1024
/** The number sent at once; others follow as those are answered, or begin to be in pieces. */
const SENT_ON_AT_ONCE = 64

/** Bounds of what is held at once. */
export type WaitingBounds = Pick<HeldBounds, 'heldMax' | 'bytesMax'>

export const WAITING_BOUNDS: WaitingBounds = { heldMax: HELD_MAX, bytesMax: HELD_BYTES_MAX }

export function createWaitingRoom({ heldMax, bytesMax } = WAITING_BOUNDS): WaitingRoom {
  // The route that answers a request refuses a body that is too long.
  const held = createHeldRequests({ heldMax, bytesMax, bodyBytesMax: Number.POSITIVE_INFINITY })
  /** Requests that were read to their ends. */
  const waiting: HeldRequest[] = []
  let sendNext = (): void => undefined

  return {
    serve(response, request) {
      const path = request.getUrl()
      if (readRequestHead(request).framing !== 'length') {
        refuseUnread(response, request, fault('OVERLOADED'))
      } else if (path === '/healthz') answerWhole(response, 200, { status: 'ok' })
      else if (path === '/readyz') answerWhole(response, 503, NOT_READY)
      else {
        held.hold(response, request, (one) => {
          waiting.push(one)
          sendNext()
        })
      }
    },
    open(host, port) {
      let under = 0
      sendNext = () => {
        while (under < SENT_ON_AT_ONCE) {
          const one = waiting.shift()
          if (one === undefined) return
          under++
          let isUnder = true
          const answering = (): void => {
            if (!isUnder) return
            isUnder = false
            under--
            sendNext()
          }
          sendOn(one, {
            send: (options) => sendRequest({ host, port, agent: false, ...options }),
            answering,
            done() {
              held.leave(one)
              answering()
            },
            failed: () => void one.response.close(),
          })
        }
      }
      sendNext()
    },
  }
}

const NOT_READY = { status: 'not_ready', draining: false, parts: {} }
