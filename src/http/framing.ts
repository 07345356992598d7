import type { HttpRequest } from './uws.js'

/**
 * How a request says where it ends. The parser takes any `Transfer-Encoding` for `chunked`, the
 * first of two `Content-Length` for the only one, an empty one for none, and skips two bytes after
 * each chunk whatever they are. A gateway that reads the same bytes otherwise would pass on, inside
 * one request, another that it never saw (RFC 9112, section 11.2). So what can be read in two ways
 * is refused, and a connection that brought chunks is closed after its answer: nothing behind them
 * is served.
 */
export type Framing = 'length' | 'chunked' | 'ambiguous'

export interface RequestHead {
  readonly framing: Framing
  /** Value of `X-Request-Id`; empty when absent. */
  readonly requestId: string
}

const DIGITS = /^\d{1,15}$/

/**
 * One pass over all headers: a look at a single one does not tell an absent header from an empty
 * one, nor the first of two from the only one, and costs as much as the pass over two.
 */
export function readRequestHead(request: HttpRequest): RequestHead {
  framings = 0
  framing = 'length'
  requestId = ''
  request.forEach(readHeader)
  return { framing: framings > 1 ? 'ambiguous' : framing, requestId }
}

let framings = 0
let framing: Framing = 'length'
let requestId = ''

/** Outside of its caller, which every request comes by; names come in lower case. */
function readHeader(name: string, value: string): void {
  switch (name) {
    case 'x-request-id':
      if (requestId === '') requestId = value
      break
    case 'content-length':
      framings++
      if (!DIGITS.test(value)) framing = 'ambiguous'
      break
    case 'transfer-encoding':
      framings++
      framing = value.toLowerCase() === 'chunked' ? 'chunked' : 'ambiguous'
      break
  }
}
