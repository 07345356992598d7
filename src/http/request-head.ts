import { type Fault, fault } from '../errors/fault.js'
import type { HttpRequest } from './app.js'

/**
 * How a request says where it ends. The native parser takes any `Transfer-Encoding` for `chunked`, the
 * first of two `Content-Length` for the only one, an empty one for none, and skips two bytes after
 * each chunk whatever they are. A gateway that reads the same bytes otherwise would pass on, inside
 * one request, another that it never saw (RFC 9112, section 11.2). So what can be read in two ways
 * is refused, and a connection that brought chunks is closed after its answer: nothing behind them
 * is served.
 */
export type Framing = 'length' | 'chunked' | 'ambiguous'

/** What the service reads of a request's headers, by name; empty when absent. */
export interface RequestHead {
  framing: Framing
  /** Its body is not as it is but under a content coding, and none is undone here. */
  isEncoded: boolean
  accept: string
  acceptEncoding: string
  authorization: string
  countersignFault: string
  contentLength: string
  contentType: string
  host: string
  idempotencyKey: string
  ifNoneMatch: string
  mcpMethod: string
  mcpName: string
  mcpProtocolVersion: string
  origin: string
  traceparent: string
  transferEncoding: string
  xApiKey: string
  /** Of several all, in their order: each proxy may add one of its own. */
  xForwardedFor: string
  xIdempotencyKey: string
  xRequestId: string
}

const DIGITS = /^\d{1,15}$/

/**
 * One pass over all headers: a look at a single one does not tell an absent header from an empty
 * one, nor the first of two from the only one, and costs as much as the pass over two. So nobody
 * looks at a single one.
 */
export function readRequestHead(request: HttpRequest): Readonly<RequestHead> {
  framings = 0
  const read: RequestHead = {
    framing: 'length',
    isEncoded: false,
    accept: '',
    acceptEncoding: '',
    authorization: '',
    countersignFault: '',
    contentLength: '',
    contentType: '',
    host: '',
    idempotencyKey: '',
    ifNoneMatch: '',
    mcpMethod: '',
    mcpName: '',
    mcpProtocolVersion: '',
    origin: '',
    traceparent: '',
    transferEncoding: '',
    xApiKey: '',
    xForwardedFor: '',
    xIdempotencyKey: '',
    xRequestId: '',
  }
  head = read
  request.forEach(readHeader)
  if (framings > 1) read.framing = 'ambiguous'
  return read
}

let framings = 0
/** Of the pass under way: every request comes by, so it makes no closure. */
let head: RequestHead

/** Names come in lower case. Of a header that comes twice the first counts. */
function readHeader(name: string, value: string): void {
  switch (name) {
    case 'host':
      head.host ||= value
      break
    case 'x-api-key':
      head.xApiKey ||= value
      break
    case 'x-forwarded-for':
      head.xForwardedFor = head.xForwardedFor === '' ? value : `${head.xForwardedFor},${value}`
      break
    case 'content-type':
      head.contentType ||= value
      break
    case 'content-length':
      framings++
      head.contentLength ||= value
      if (!DIGITS.test(value)) head.framing = 'ambiguous'
      break
    case 'transfer-encoding':
      framings++
      head.transferEncoding ||= value
      head.framing = value.toLowerCase() === 'chunked' ? 'chunked' : 'ambiguous'
      break
    case 'content-encoding':
      // Of several all count: each is one more coding.
      if (value !== '' && value.toLowerCase() !== 'identity') head.isEncoded = true
      break
    case 'accept':
      head.accept ||= value
      break
    case 'authorization':
      head.authorization ||= value
      break
    case 'idempotency-key':
      head.idempotencyKey ||= value
      break
    case 'if-none-match':
      head.ifNoneMatch ||= value
      break
    case 'mcp-method':
      head.mcpMethod ||= value
      break
    case 'mcp-name':
      head.mcpName ||= value
      break
    case 'mcp-protocol-version':
      head.mcpProtocolVersion ||= value
      break
    case 'origin':
      head.origin ||= value
      break
    case 'traceparent':
      head.traceparent ||= value
      break
    case 'x-idempotency-key':
      head.xIdempotencyKey ||= value
      break
    case 'x-request-id':
      head.xRequestId ||= value
      break
    case 'countersign-fault':
      head.countersignFault ||= value
      break
    case 'accept-encoding':
      head.acceptEncoding ||= value
      break
  }
}

const AMBIGUOUS =
  'The request says in more than one way where it ends; send one Content-Length, or Transfer-Encoding: chunked alone.'

export function ambiguousFraming(): Fault {
  const issues = [{ path: '$headers', message: AMBIGUOUS }]
  return fault('INVALID_REQUEST', { issues }, AMBIGUOUS)
}

const ENCODED = 'Send the body as it is; no Content-Encoding but identity is understood.'

export function encodedBody(): Fault {
  return fault('UNSUPPORTED_MEDIA_TYPE', {}, ENCODED)
}
