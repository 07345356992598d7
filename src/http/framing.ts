import type { HttpRequest } from './uws.js'

/**
 * How a request says where it ends. The parser takes any `Transfer-Encoding` for `chunked`, the
 * first of two `Content-Length` for the only one, and skips two bytes after each chunk whatever
 * they are. A gateway that reads the same bytes otherwise would pass on, inside one request, another
 * that it never saw (RFC 9112, section 11.2). So what can be read in two ways is refused, and a
 * connection that brought chunks is closed after its answer: nothing behind them is served.
 */
export type Framing = 'length' | 'chunked' | 'ambiguous'

const DIGITS = /^\d{1,15}$/

export function framingOf(request: HttpRequest): Framing {
  const encoding = request.getHeader('transfer-encoding')
  const length = request.getHeader('content-length')
  // Nearly every read ends here: the count below asks for each header.
  if (encoding === '' && length === '') return 'length'
  if (encoding !== '' && length !== '') return 'ambiguous'
  if (encoding !== '' && encoding.toLowerCase() !== 'chunked') return 'ambiguous'
  if (length !== '' && !DIGITS.test(length)) return 'ambiguous'
  let framings = 0
  request.forEach((name) => {
    if (name === 'content-length' || name === 'transfer-encoding') framings++
  })
  if (framings !== 1) return 'ambiguous'
  return encoding === '' ? 'length' : 'chunked'
}
