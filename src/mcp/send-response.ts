import type { Exchange } from '../http/exchange.js'
import type { Header } from '../http/reply.js'

/** A web-standard response onto the exchange; event streams go out piece by piece. */

const EVENT_STREAM = 'text/event-stream'

/**
 * @param outlives whether the work behind a stream goes on when its caller is gone: a call does (its
 *   result is kept under its idempotency key), a subscription does not
 */
export async function sendResponse(
  exchange: Exchange,
  response: Response,
  outlives: 'caller' | 'nothing',
): Promise<void> {
  const contentType = response.headers.get('content-type') ?? 'application/json'
  if (response.body === null || !contentType.startsWith(EVENT_STREAM)) {
    const allow = response.headers.get('allow')
    const headers: readonly Header[] = allow === null ? [] : [['Allow', allow]]
    const body = await response.text()
    exchange.send({ status: response.status, body, contentType, headers })
    return
  }
  const reader = response.body.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  if (outlives === 'nothing') {
    // An abort that came before is told of to nobody.
    if (exchange.aborted) stop()
    else exchange.onAbort(stop)
  }
  const stream = exchange.stream({
    status: response.status,
    contentType,
    cacheControl: 'no-cache, no-transform',
    headers: [['X-Accel-Buffering', 'no']],
  })
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      stream.write(next.value)
      if (outlives === 'nothing' && exchange.gate.draining) stop()
    }
  } finally {
    stream.end()
  }
}
