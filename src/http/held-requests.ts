import { errorBody } from '../api/error-body.js'
import { CATALOGUE } from '../errors/catalogue.js'
import { type Fault, fault } from '../errors/fault.js'
import type { HttpRequest, HttpResponse } from './app.js'
import { newRequestId } from './request-id.js'
import { answerWhole } from './whole-answer.js'

/** A request that another server is to answer: read to its end, and kept until then. */
export interface HeldRequest {
  readonly response: HttpResponse
  readonly method: string
  /** Path and query, as they came. */
  readonly target: string
  /** Names and values by turns, without those of one connection. */
  readonly headers: readonly string[]
  readonly pieces: readonly Buffer[]
  /** The caller is, or was answered already. */
  readonly gone: boolean
  /** What is to end when its caller is gone. */
  whenGone: () => void
}

/** What is held at once. */
export interface HeldBounds {
  readonly heldMax: number
  readonly bytesMax: number
  /** Of one body. */
  readonly bodyBytesMax: number
}

export interface HeldRequests {
  /** @param whole called when it is read to its end, unless its caller is gone or was refused by then */
  hold(response: HttpResponse, request: HttpRequest, whole: (one: HeldRequest) => void): void
  /** It was answered, or its caller is gone: its place is free. */
  leave(one: HeldRequest): void
}

/** Of one connection, or written anew by whoever sends (RFC 9110, section 7.6.1). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'uwebsockets',
])

const RETRY_AFTER_SECONDS = '1'

interface Held extends HeldRequest {
  readonly pieces: Buffer[]
  gone: boolean
}

export function createHeldRequests({ heldMax, bytesMax, bodyBytesMax }: HeldBounds): HeldRequests {
  const places = new Map<HeldRequest, Held>()
  let bytes = 0

  function leave(one: HeldRequest): void {
    const held = places.get(one)
    if (held === undefined) return
    places.delete(one)
    for (const piece of held.pieces.splice(0)) bytes -= piece.byteLength
  }

  return {
    hold(response, request, whole) {
      if (places.size >= heldMax) {
        refuse(response, fault('OVERLOADED'))
        return
      }
      const one: Held = {
        ...{ response, ...headOf(request), pieces: [] },
        ...{ gone: false, whenGone: () => leave(one) },
      }
      places.set(one, one)
      let own = 0
      response.onAborted(() => {
        one.gone = true
        one.whenGone()
      })
      response.onData((piece, isLast) => {
        if (one.gone) return
        own += piece.byteLength
        const isTooLong = own > bodyBytesMax
        if (isTooLong || bytes + piece.byteLength > bytesMax) {
          one.gone = true
          refuse(response, fault(isTooLong ? 'PAYLOAD_TOO_LARGE' : 'OVERLOADED'))
          leave(one)
          return
        }
        bytes += piece.byteLength
        // The piece is gone when this returns.
        one.pieces.push(Buffer.from(new Uint8Array(piece)))
        if (isLast) whole(one)
      })
    },
    leave,
  }
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

/** Closes: of what may follow on that connection nothing was read. */
export function refuse(response: HttpResponse, refusal: Fault): void {
  const { status, retryable } = CATALOGUE[refusal.code]
  const headers = retryable ? [['Retry-After', RETRY_AFTER_SECONDS] as const] : []
  const requestId = newRequestId()
  answerWhole(response, status, errorBody(refusal, requestId), headers, requestId)
}
