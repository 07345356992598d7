import type { HttpResponse } from './app.js'
import { newRequestId } from './request-id.js'
import { statusLine } from './status-line.js'

/** Answers in JSON before routes exist, and closes the connection. */
export function answerWhole(
  response: HttpResponse,
  status: number,
  body: unknown,
  headers: readonly (readonly [string, string])[] = [],
  requestId = newRequestId(),
): void {
  response.cork(() => {
    response.writeStatus(statusLine(status))
    response.writeHeader('Content-Type', 'application/json')
    response.writeHeader('X-Request-Id', requestId)
    response.writeHeader('Cache-Control', 'no-store')
    response.writeHeader('X-Content-Type-Options', 'nosniff')
    for (const [name, value] of headers) response.writeHeader(name, value)
    response.end(JSON.stringify(body), true)
  })
}
