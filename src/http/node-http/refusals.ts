import type { IncomingMessage } from 'node:http'
import { errorBody } from '../../api/error-body.js'
import { CATALOGUE } from '../../errors/catalogue.js'
import { type Fault, fault } from '../../errors/fault.js'
import { ambiguousFraming } from '../request-head.js'
import { newRequestId } from '../request-id.js'
import { statusLine } from '../status-line.js'
import { HEADERS_MAX } from './bounds.js'
import type { NodeRequest } from './node-request.js'

/** Refusals made before a request exists that a route could serve. */

const NOT_HTTP = 'The request is not well-formed HTTP/1.1.'
const HOST_ONCE = 'Send HTTP/1.1 with one Host header.'

/** Parser errors about a length that is given twice, given along with chunks, or not a number. */
const AMBIGUOUS: ReadonlySet<string> = new Set([
  'HPE_UNEXPECTED_CONTENT_LENGTH',
  'HPE_INVALID_CONTENT_LENGTH',
  'HPE_INVALID_TRANSFER_ENCODING',
])

/** @returns null if a route may serve the request */
export function refusalOfHead(message: IncomingMessage, request: NodeRequest): Fault | null {
  if (request.headers > HEADERS_MAX) return fault('HEADERS_TOO_LARGE')
  // RFC 9112, section 3.2.
  const isPlain = message.httpVersion === '1.1' && request.count('host') === 1
  return isPlain ? null : malformed(HOST_ONCE)
}

/** @returns null if the connection ends without an answer: it broke, or was too slow */
export function refusalOfError(error: NodeJS.ErrnoException): Fault | null {
  const { code = '' } = error
  if (code === 'HPE_HEADER_OVERFLOW') return fault('HEADERS_TOO_LARGE')
  if (code === 'HPE_INVALID_EOF_STATE') return null
  if (AMBIGUOUS.has(code)) return ambiguousFraming()
  return code.startsWith('HPE_') ? malformed(NOT_HTTP) : null
}

function malformed(message: string): Fault {
  return fault('INVALID_REQUEST', { issues: [{ path: '$headers', message }] }, message)
}

/** A whole answer that closes its connection, with the headers that every answer has. */
export function refusalText(refusal: Fault): string {
  const requestId = newRequestId()
  const body = JSON.stringify(errorBody(refusal, requestId))
  return [
    `HTTP/1.1 ${statusLine(CATALOGUE[refusal.code].status)}`,
    'Content-Type: application/json',
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
