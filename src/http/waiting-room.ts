import { type ClientRequest, request as sendRequest } from 'node:http'
import { errorBody } from '../api/error-body.js'
import { CATALOGUE } from '../errors/catalogue.js'
import { type Fault, fault } from '../errors/fault.js'
import type { HttpRequest, HttpResponse } from './app.js'
import { readRequestHead } from './request-head.js'
import { newRequestId } from './request-id.js'
import { statusLine } from './status-line.js'
import { answerWhole } from './whole-answer.js'

/**
 * Holds the requests that reach a service before it serves: its predecessor has closed the port, and
 * the store is not open yet. Each is read, kept, and sent on to this very port once the routes are
 * there, so that it goes the way of all others. Owns what it holds.
 */
export interface WaitingRoom {
  readonly serve: (response: HttpResponse, request: HttpRequest) => void
  /** Sends on all that is held; what comes later it is not asked to hold. */
  open(host: string, port: number): void
}

/** A thousand callers, twice over; each costs a connection, which waits anyway. */
const HELD_MAX = 2_048
/** Bodies of 256 KiB, of which a few may come; real ones are a few hundred bytes. */
const HELD_BYTES_MAX = 32 * 1024 * 1024
/** Sent on at once; the rest follows as those are answered, or begin to be in pieces. */
const SENT_ON_AT_ONCE = 64
const RETRY_AFTER_SECONDS = '1'
/** Of one connection, or written anew by whoever sends (RFC 9110, section 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'uwebsockets',
])

interface Held {
  readonly response: HttpResponse
  readonly method: string
  readonly target: string
  /** Names and values by turns. */
  readonly headers: readonly string[]
  readonly pieces: Buffer[]
  /** The caller is, or was answered already. */
  gone: boolean
  left: boolean
  /** What is to end when its caller is gone. */
  whenGone: () => void
}

/** What is held at once. */
export interface WaitingBounds {
  readonly heldMax: number
  readonly bytesMax: number
}

export const WAITING_BOUNDS: WaitingBounds = { heldMax: HELD_MAX, bytesMax: HELD_BYTES_MAX }

export function createWaitingRoom({ heldMax, bytesMax } = WAITING_BOUNDS): WaitingRoom {
  /** Read to their ends. */
  const waiting: Held[] = []
  let held = 0
  let bytes = 0
  let sendOn = (): void => undefined

  function hold(response: HttpResponse, request: HttpRequest): void {
    const one: Held = {
      ...{ response, ...headOf(request), pieces: [] },
      ...{ gone: false, left: false, whenGone: () => leave(one) },
    }
    held++
    response.onAborted(() => {
      one.gone = true
      one.whenGone()
    })
    response.onData((piece, isLast) => {
      if (one.gone) return
      if (bytes + piece.byteLength > bytesMax) {
        one.gone = true
        refuse(response, fault('OVERLOADED'))
        leave(one)
        return
      }
      bytes += piece.byteLength
      // The piece is gone when this returns.
      one.pieces.push(Buffer.from(new Uint8Array(piece)))
      if (!isLast) return
      waiting.push(one)
      sendOn()
    })
  }

  function leave(one: Held): void {
    if (one.left) return
    one.left = true
    held--
    for (const piece of one.pieces.splice(0)) bytes -= piece.byteLength
  }

  return {
    serve(response, request) {
      const path = request.getUrl()
      if (path === '/healthz') answerWhole(response, 200, { status: 'ok' })
      else if (path === '/readyz') answerWhole(response, 503, NOT_READY)
      else if (held >= heldMax || readRequestHead(request).framing !== 'length')
        refuse(response, fault('OVERLOADED'))
      else hold(response, request)
    },
    open(host, port) {
      let under = 0
      sendOn = () => {
        while (under < SENT_ON_AT_ONCE) {
          const one = waiting.shift()
          if (one === undefined) return
          under++
          let isUnder = true
          const answering = (): void => {
            if (!isUnder) return
            isUnder = false
            under--
            sendOn()
          }
          forward(one, host, port, {
            answering,
            done() {
              leave(one)
              answering()
            },
          })
        }
      }
      sendOn()
    },
  }
}

const NOT_READY = { status: 'not_ready', draining: false, parts: {} }

function headOf(request: HttpRequest): Pick<Held, 'method' | 'target' | 'headers'> {
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

/** @returns null for a path or header that Node sends nobody, such as one beyond Latin-1 */
function requestOnward(
  { method, target: path, headers: held }: Held,
  body: Buffer,
  host: string,
  port: number,
): ClientRequest | null {
  const headers = [...held]
  if (body.length > 0) headers.push('content-length', String(body.length))
  try {
    return sendRequest({ host, port, method, path, headers, agent: false })
  } catch {
    return null
  }
}

interface Progress {
  /** Called when an answer in pieces begins: it may go on for hours, and nobody waits behind it. */
  answering(): void
  /** Called once, when the caller has its answer or is gone. */
  done(): void
}

function forward(one: Held, host: string, port: number, { answering, done }: Progress): void {
  if (one.gone) {
    done()
    return
  }
  const { response, method } = one
  const body = Buffer.concat(one.pieces)
  const onward = requestOnward(one, body, host, port)
  if (onward === null) {
    refuse(response, fault('INVALID_REQUEST'))
    done()
    return
  }
  let ended = false
  const end = (work: () => void): void => {
    if (ended) return
    ended = true
    if (!one.gone) response.cork(work)
    done()
  }
  // A stream would go on for nobody.
  one.whenGone = () => onward.destroy()
  // What became of it is not known, as when any connection breaks.
  onward.on('error', () => end(() => response.close()))
  onward.on('response', (answered) => {
    const { statusCode = 502, rawHeaders } = answered
    const writeHead = (): void => {
      response.writeStatus(statusLine(statusCode))
      for (let at = 0; at < rawHeaders.length; at += 2) {
        const name = rawHeaders[at] ?? ''
        if (!HOP_BY_HOP.has(name.toLowerCase()))
          response.writeHeader(name, rawHeaders[at + 1] ?? '')
      }
    }
    const isWhole = answered.headers['transfer-encoding'] === undefined
    const pieces: Buffer[] = []
    let begun = false
    if (!isWhole) {
      answering()
      // What its caller does not take piles up with who sends, which bounds it, and not here.
      if (!one.gone) {
        response.onWritable(() => {
          answered.resume()
          return true
        })
      }
    }
    answered.on('data', (piece: Buffer) => {
      if (isWhole) pieces.push(piece)
      else if (!one.gone) {
        response.cork(() => {
          if (!begun) writeHead()
          begun = true
          if (!response.write(piece)) answered.pause()
        })
      }
    })
    answered.on('error', () => end(() => response.close()))
    answered.on('end', () => {
      end(() => {
        if (!begun) writeHead()
        const hasBody = method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
        if (begun) response.end()
        else if (hasBody) response.end(Buffer.concat(pieces))
        else response.endWithoutBody()
      })
    })
  })
  onward.end(body)
}

function refuse(response: HttpResponse, refusal: Fault): void {
  const { status, retryable } = CATALOGUE[refusal.code]
  const headers = retryable ? [['Retry-After', RETRY_AFTER_SECONDS] as const] : []
  const requestId = newRequestId()
  answerWhole(response, status, errorBody(refusal, requestId), headers, requestId)
}

/** Closes: of what may follow on that connection nothing was read. */
