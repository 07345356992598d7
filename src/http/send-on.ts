import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { fault } from '../errors/fault.js'
import { type HeldRequest, HOP_BY_HOP } from './held-requests.js'
import { statusLine } from './status-line.js'

interface SendOn {
  /**
   * Sends with Node; the options name the destination, the request is otherwise as received. Throws
   * for a request that Node does not send.
   */
  send(options: Pick<RequestOptions, 'method' | 'path' | 'headers'>): ClientRequest
  /**
   * Called when an answer in pieces begins, because it may last for hours and nothing may wait for
   * it.
   */
  answering?(): void
  /** Called once, when the caller has its answer or has disconnected. */
  done(): void
  /**
   * Called if nothing of an answer has reached the caller, who is still connected. The outcome of
   * the request is unknown, as for any broken connection. It must answer or close.
   */
  failed(error: Error): void
}

/** A request with one of these methods and no body must not declare an empty one. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/**
 * Lets another server answer a request, and forwards its answer as it arrives. If the caller
 * disconnects, the request to the other server is ended too.
 * @returns null if nothing was sent
 */
export function sendOn(one: HeldRequest, { send, ...told }: SendOn): ClientRequest | null {
  if (one.gone) {
    told.done()
    return null
  }
  const onward = requestOnward(one, send)
  if (onward === null) {
    one.refuse(fault('INVALID_REQUEST'))
    told.done()
    return null
  }
  let hasEnded = false
  const end = (work: () => void): void => {
    if (hasEnded) return
    hasEnded = true
    if (!one.gone) work()
    told.done()
  }
  let hasBegun = false
  const fail = (error: Error) =>
    end(() => (hasBegun ? void one.response.close() : told.failed(error)))
  // A stream would continue for nobody; a request that waits for a connection ends without an
  // error.
  one.whenGone = () => {
    onward.destroy()
    end(() => undefined)
  }
  let isAnswered = false
  onward.on('error', fail)
  // Something that is not an answer, such as a protocol switch, ends the connection without an
  // error.
  onward.on('close', () => {
    if (!isAnswered) fail(new Error('it was closed without an answer'))
  })
  onward.on('response', (answered) => {
    isAnswered = true
    answered.on('error', fail)
    if (answered.headers['transfer-encoding'] === undefined) passWhole(one, answered, end)
    else {
      told.answering?.()
      passPieces(one, answered, end, () => {
        hasBegun = true
      })
    }
  })
  onward.end(one.body)
  return onward
}

type End = (work: () => void) => void

/**
 * Twice the longest page, which has a hundred transactions with the longest data. Answers in pieces
 * are forwarded as they arrive, without a bound.
 */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/**
 * An answer of known length is written only once it is complete, because until then it can fail.
 */
function passWhole(one: HeldRequest, answered: IncomingMessage, end: End): void {
  const { response, method } = one
  const { statusCode = 502 } = answered
  const pieces: Buffer[] = []
  let bytes = 0
  answered.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > ANSWER_BYTES_MAX) answered.destroy(new Error('its answer is too long'))
    else pieces.push(piece)
  })
  answered.on('end', () => {
    end(() =>
      response.cork(() => {
        writeHead(one, answered)
        if (method !== 'HEAD' && statusCode !== 204 && statusCode !== 304) {
          response.end(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces), one.closes)
          return
        }
        const length = answered.headers['content-length']
        if (method === 'HEAD' && length !== undefined)
          response.writeHeader('Content-Length', length)
        if (one.closes) response.writeHeader('Connection', 'close')
        response.endWithoutBody()
      }),
    )
  })
}

function passPieces(
  one: HeldRequest,
  answered: IncomingMessage,
  end: End,
  begins: () => void,
): void {
  const { response } = one
  let hasBegun = false
  const begin = (): void => {
    if (!hasBegun) writeHead(one, answered)
    hasBegun = true
    begins()
  }
  // What the caller does not take accumulates at the sender, which bounds it.
  if (!one.gone) {
    response.onWritable(() => {
      answered.resume()
      return true
    })
  }
  answered.on('data', (piece: Buffer) => {
    if (one.gone) return
    response.cork(() => {
      begin()
      if (!response.write(piece)) answered.pause()
    })
  })
  answered.on('end', () => {
    end(() =>
      response.cork(() => {
        begin()
        response.end(undefined, one.closes)
      }),
    )
  })
}

function writeHead({ response }: HeldRequest, { statusCode = 502, rawHeaders }: IncomingMessage) {
  response.writeStatus(statusLine(statusCode))
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!HOP_BY_HOP.has(name.toLowerCase())) response.writeHeader(name, rawHeaders[at + 1] ?? '')
  }
}

/**
 * @returns null for a path or header that Node does not send, such as one beyond Latin-1, and for
 * CONNECT, whose answer would be a connection
 */
function requestOnward(
  { method, target: path, headers: held, body }: HeldRequest,
  send: SendOn['send'],
): ClientRequest | null {
  if (method === 'CONNECT') return null
  const headers = [...held]
  const isBodiless = body.length === 0 && BODILESS.has(method)
  // Without this header Node would send an empty body in chunks.
  if (!isBodiless) headers.push('content-length', String(body.length))
  try {
    return send({ method, path, headers })
  } catch {
    return null
  }
}
