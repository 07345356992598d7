import type { HttpResponse } from './app.js'
import { statusLine } from './status-line.js'

/** Before there are routes: an answer in JSON, after which the connection is closed. */
export function answerWhole(
  response: HttpResponse,
  status: number,
  body: unknown,
  headers: readonly (readonly [string, string])[] = [],
): void {
  response.cork(() => {
    response.writeStatus(statusLine(status))
    response.writeHeader('Content-Type', 'application/json')
    response.writeHeader('Cache-Control', 'no-store')
    for (const [name, value] of headers) response.writeHeader(name, value)
    response.end(JSON.stringify(body), true)
  })
}
