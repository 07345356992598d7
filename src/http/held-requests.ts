import { errorBody } from '../api/error-body.js'
import { CATALOGUE } from '../errors/catalogue.js'
import { type Fault, fault } from '../errors/fault.js'
import type { HttpRequest, HttpResponse } from './app.js'
import { leavePace, watchPace } from './body-pace.js'
import { type Framing, readRequestHead } from './request-head.js'
import { requestIdOf } from './request-id.js'
import { answerWhole } from './whole-answer.js'

/** A request for another server, read to its end and kept until then. */
export interface HeldRequest {
  readonly response: HttpResponse
  readonly method: string
  /** Path and query, as received. */
  readonly target: string
  /** Names and values, alternating, without the headers of one connection. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
  /**
   * Whether its connection is closed after the answer: because it arrived in chunks, behind which
   * nothing is served, or because this node ends.
   */
  readonly closes: boolean
  /** Whether the caller has disconnected or was already answered. */
  readonly gone: boolean
  /** Ends the work for this request when its caller disconnects. */
  whenGone: () => void
  /** Answers with a fault. Nothing may be answered after it. */
  refuse(refusal: Fault): void
}

/** Bounds of what is held at once. */
export interface HeldBounds {
  readonly heldMax: number
  /** Memory for all bodies. */
  readonly bytesMax: number
  /** Length of one body. */
  readonly bodyBytesMax: number
  /**
   * Requests of one client, which has shown no key, so that others find places. Without it there is
   * no such bound.
   */
  readonly ofClientMax?: number
  /**
   * Memory for the bodies of one client, for the same reason. Without it there is no such bound.
   */
  readonly bytesOfClientMax?: number
  /** Once true, each answer closes its connection. */
  readonly isDraining?: () => boolean
}

export interface HeldRequests {
  /**
   * @param whole called when the request is read to its end, unless its caller has disconnected or
   * was refused
   * @param client its address; by default all requests count as one client's
   */
  hold(
    response: HttpResponse,
    request: HttpRequest,
    whole: (one: HeldRequest) => void,
    client?: string,
  ): void
  /**
   * Releases the place of a request that is answered, begins to be, or whose caller has
   * disconnected.
   */
  leave(one: HeldRequest): void
  /** The number of requests held now. */
  readonly size: number
}

/**
 * Headers that belong to one connection, or are written again by each sender (RFC 9110, section
 * 7.6.1).
 */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'uwebsockets',
])

const RETRY_AFTER_SECONDS = '1'

interface Held extends HeldRequest {
  body: Buffer
  gone: boolean
}

interface Client {
  readonly address: string
  /** The number of its requests that are held. */
  count: number
  /** Memory that their bodies take. */
  bytes: number
}

interface Place {
  readonly client: Client
  /** Memory that its body takes. */
  bytes: number
}

export function createHeldRequests(bounds: HeldBounds): HeldRequests {
  const { heldMax, bytesMax, bodyBytesMax } = bounds
  const { ofClientMax = heldMax, bytesOfClientMax = bytesMax, isDraining = () => false } = bounds
  const places = new Map<HeldRequest, Place>()
  const clients = new Map<string, Client>()
  let bytes = 0

  function leave(one: HeldRequest): void {
    const place = places.get(one)
    if (place === undefined) return
    places.delete(one)
    const { client } = place
    bytes -= place.bytes
    client.bytes -= place.bytes
    client.count--
    if (client.count === 0) clients.delete(client.address)
  }

  function place(one: HeldRequest, address: string): Place | null {
    const client = clients.get(address) ?? { address, count: 0, bytes: 0 }
    if (places.size >= heldMax || client.count >= ofClientMax) return null
    const its = { client, bytes: 0 }
    places.set(one, its)
    clients.set(address, client)
    client.count++
    return its
  }

  /**
   * A body grows by doubling; in pieces of single bytes it would take a hundred times its length.
   */
  function take(one: Held, its: Place, length: number, piece: ArrayBuffer): Fault | null {
    const needed = length + piece.byteLength
    if (needed > bodyBytesMax) return fault('PAYLOAD_TOO_LARGE')
    if (needed > one.body.length) {
      const free = Math.min(bytesMax - bytes, bytesOfClientMax - its.client.bytes)
      const room = free + one.body.length
      if (needed > room) return fault('OVERLOADED')
      const capacity = Math.max(needed, Math.min(2 * one.body.length, bodyBytesMax, room))
      const more = capacity - one.body.length
      bytes += more
      its.bytes += more
      its.client.bytes += more
      const grown = Buffer.allocUnsafe(capacity)
      one.body.copy(grown, 0, 0, length)
      one.body = grown
    }
    // The piece is invalid once this returns.
    one.body.set(new Uint8Array(piece), length)
    return null
  }

  return {
    hold(response, request, whole, client = '') {
      const one = heldOf(response, request, leave, isDraining)
      const its = place(one, client)
      if (its === null) {
        one.refuse(fault('OVERLOADED'))
        return
      }
      let length = 0
      let isRefused = false
      const pace = {
        get receivedBytes() {
          return length
        },
        tooSlow() {
          if (one.gone || isRefused) return
          isRefused = true
          one.refuse(fault('REQUEST_TIMEOUT'))
          leave(one)
        },
      }
      const whenGone = one.whenGone
      one.whenGone = () => {
        leavePace(pace)
        whenGone()
      }
      watchPace(pace)
      response.onData((piece, isLast) => {
        if (one.gone || isRefused) return
        const refusal = take(one, its, length, piece)
        if (refusal !== null) {
          // If the answer waits for a later turn, more of the body may still arrive in this one.
          isRefused = true
          leavePace(pace)
          one.refuse(refusal)
          leave(one)
          return
        }
        length += piece.byteLength
        if (!isLast) return
        leavePace(pace)
        one.body = one.body.subarray(0, length)
        whole(one)
      })
    },
    leave,
    get size() {
      return places.size
    },
  }
}

/** Answers as early as `answerAfter` allows. */
export function refuseUnread(response: HttpResponse, request: HttpRequest, refusal: Fault): void {
  heldOf(
    response,
    request,
    () => undefined,
    () => false,
  ).refuse(refusal)
}

function heldOf(
  response: HttpResponse,
  request: HttpRequest,
  leave: (one: HeldRequest) => void,
  isDraining: () => boolean,
): Held {
  const { framing, xRequestId } = readRequestHead(request)
  const one: Held = {
    ...{ response, ...headOf(request), body: Buffer.alloc(0) },
    ...{ gone: false, whenGone: () => leave(one) },
    get closes() {
      return framing !== 'length' || isDraining()
    },
    refuse(refusal) {
      answerAfter(framing, () => {
        if (!one.gone) refuse(response, refusal, xRequestId)
        one.gone = true
      })
    },
  }
  response.onAborted(() => {
    one.gone = true
    one.whenGone()
  })
  return one
}

/**
 * The package also serves what arrived in the same piece of data behind a request that is answered
 * in its own callback, even if the answer closes the connection. Behind chunks, or an ambiguous
 * end, that may be a request that no gateway saw. If the answer waits for a later turn, the parser
 * has met it and closed.
 */
function answerAfter(framing: Framing, answer: () => void): void {
  if (framing === 'length') answer()
  else setImmediate(answer)
}

function headOf(request: HttpRequest): Pick<HeldRequest, 'method' | 'target' | 'headers'> {
  const query = request.getQuery() ?? ''
  const headers: string[] = []
  request.forEach((name, value) => {
    if (!HOP_BY_HOP.has(name)) headers.push(name, value)
  })
  return {
    method: request.getMethod().toUpperCase(),
    target: query === '' ? request.getUrl() : `${request.getUrl()}?${query}`,
    headers,
  }
}

/** Closes the connection, because what follows on it was not read. */
function refuse(response: HttpResponse, refusal: Fault, given: string): void {
  const { status, retryable } = CATALOGUE[refusal.code]
  const headers = retryable ? [['Retry-After', RETRY_AFTER_SECONDS] as const] : []
  const id = requestIdOf(given)
  answerWhole(response, status, errorBody(refusal, id), headers, id)
}
