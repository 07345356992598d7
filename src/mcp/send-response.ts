import type { Exchange } from '../http/exchange.js'
import type { Header } from '../http/reply.js'
import { type AcceptedForm, JSON_TYPE, STREAM_TYPE } from './accepted-form.js'
import { asJson, asStream, isStream } from './one-message.js'

/** Sends a web-standard response on the exchange; event streams are sent piece by piece. */

interface SendingOptions {
  /**
   * Whether the work behind a stream continues when its caller disconnects: a call does, because
   * its result is kept under its idempotency key; a subscription does not.
   */
  readonly outlives: 'caller' | 'nothing'
  readonly form: AcceptedForm
  readonly isBatch: boolean
}

export async function sendResponse(
  exchange: Exchange,
  response: Response,
  { outlives, form, isBatch }: SendingOptions,
): Promise<void> {
  const contentType = response.headers.get('content-type') ?? JSON_TYPE
  if (response.body === null || !isStream(response)) {
    const allow = response.headers.get('allow')
    const headers: readonly Header[] = allow === null ? [] : [['Allow', allow]]
    const body = await response.text()
    if (form === 'stream' && response.status === 200) {
      exchange.send({ status: 200, body: asStream(body), contentType: STREAM_TYPE, headers })
    } else exchange.send({ status: response.status, body, contentType, headers })
    return
  }
  if (form === 'json') {
    exchange.send({ status: response.status, body: await asJson(response, isBatch) })
    return
  }
  const reader = response.body.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  if (outlives === 'nothing') {
    // An abort that came earlier is not reported again.
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
