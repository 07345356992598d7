import type { ClientRequest, RequestOptions } from 'node:http'
import { fault } from '../errors/fault.js'
import { type HeldRequest, HOP_BY_HOP, refuse } from './held-requests.js'
import { statusLine } from './status-line.js'

export interface SendOn {
  /** Of Node, with where it goes; the rest is as the request came. */
  send(options: Pick<RequestOptions, 'method' | 'path' | 'headers'>): ClientRequest
  /** Of one that brought chunks nothing that follows them may be served. */
  readonly closes?: boolean
  /** Called when an answer in pieces begins: it may go on for hours, and nobody waits behind it. */
  answering?(): void
  /** Called once, when the caller has its answer or is gone. */
  done(): void
  /**
   * No answer came, and the caller is there. What became of it is not known, as when any connection
   * breaks. Answers, or closes.
   */
  failed(onward: ClientRequest, error: Error): void
}

/**
 * Has another server answer a request, and passes on what it says as it comes. One whose caller goes
 * away is ended there too.
 */
export function sendOn(one: HeldRequest, options: SendOn): ClientRequest | null {
  const { closes = false, answering, done, failed } = options
  if (one.gone) {
    done()
    return null
  }
  const { response, method } = one
  const body = Buffer.concat(one.pieces)
  const onward = requestOnward(one, body, options.send)
  if (onward === null) {
    refuse(response, fault('INVALID_REQUEST'))
    done()
    return null
  }
  let ended = false
  const end = (work: () => void): void => {
    if (ended) return
    ended = true
    if (!one.gone) work()
    done()
  }
  const close = () => end(() => response.close())
  // A stream would go on for nobody.
  one.whenGone = () => onward.destroy()
  let isAnswered = false
  onward.on('error', (error) => {
    if (isAnswered) close()
    else end(() => failed(onward, error))
  })
  onward.on('response', (answered) => {
    isAnswered = true
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
      answering?.()
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
    answered.on('error', close)
    answered.on('end', () => {
      end(() =>
        response.cork(() => {
          if (!begun) writeHead()
          const hasBody = method !== 'HEAD' && statusCode !== 204 && statusCode !== 304
          if (begun) response.end(undefined, closes)
          else if (hasBody) response.end(Buffer.concat(pieces), closes)
          else response.endWithoutBody()
        }),
      )
    })
  })
  onward.end(body)
  return onward
}

/** @returns null for a path or header that Node sends nobody, such as one beyond Latin-1 */
function requestOnward(
  { method, target: path, headers: held }: HeldRequest,
  body: Buffer,
  send: SendOn['send'],
): ClientRequest | null {
  const headers = [...held]
  if (body.length > 0) headers.push('content-length', String(body.length))
  try {
    return send({ method, path, headers })
  } catch {
    return null
  }
}
