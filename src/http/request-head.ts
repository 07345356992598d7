import { type Fault, fault } from '../errors/fault.js'
import type { HttpRequest } from './app.js'

/**
 * How a request marks its end. The native parser reads any `Transfer-Encoding` as `chunked`, uses
 * only the first of two `Content-Length`, treats an empty one as absent, and skips two bytes after
 * each chunk whatever they are. A gateway that reads the same bytes differently would forward,
 * inside one request, another that it never saw (RFC 9112, section 11.2). So a request that can be
 * read in two ways is refused, and a connection that brought chunks is closed after its answer,
 * with nothing behind them served.
 */
export type Framing = 'length' | 'chunked' | 'ambiguous'

/** The request headers that the service reads, by name; empty if absent. */
export interface RequestHead {
  framing: Framing
  /** Whether the body has a content coding; none is decoded here. */
  isEncoded: boolean
  /** All values, if there are several: RFC 9110, section 5.3. */
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
  /** All values in order, if there are several: each proxy may add one. */
  xForwardedFor: string
  xIdempotencyKey: string
  xRequestId: string
}

const DIGITS = /^\d{1,15}$/

/**
 * One pass over all headers. Reading a single header cannot tell absent from empty, nor the first
 * of two from the only one, and costs as much as a pass over two headers.
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
/** The head of the pass under way, kept outside so that no request needs a closure. */
let head: RequestHead

/** Names are in lower case. If a header is repeated the first one counts, except for lists. */
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
      // Each value is one more coding, so all of them count.
      if (value !== '' && value.toLowerCase() !== 'identity') head.isEncoded = true
      break
    case 'accept':
      head.accept = head.accept === '' ? value : `${head.accept}, ${value}`
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
  'The request marks its end in more than one way. Send either one Content-Length or Transfer-Encoding: chunked.'

export function ambiguousFraming(): Fault {
  const issues = [{ path: '$headers', message: AMBIGUOUS }]
  return fault('INVALID_REQUEST', { issues }, AMBIGUOUS)
}

const ENCODED = 'Send the body without a Content-Encoding; only identity is supported.'

export function encodedBody(): Fault {
  return fault('UNSUPPORTED_MEDIA_TYPE', {}, ENCODED)
}
