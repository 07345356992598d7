/**
 * Sends spans to a collector as OTLP/HTTP in JSON, which every collector accepts. The code is
 * written here because one request body is all that is needed of the SDK, and its packages would
 * add some twenty dependencies to the process that moves money.
 */

export interface Span {
  /** Hex of 32 characters; span ids have 16. */
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: 'server' | 'internal'
  /** Milliseconds since the epoch. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number>>
  readonly failed: boolean
}

export interface SpanExporter {
  /** Adds a span in constant time. Beyond SPANS_WAITING_MAX, spans are dropped. */
  add(span: Span): void
  /**
   * Sends the waiting spans. If the collector refuses them they are lost, so that no shutdown waits
   * for it.
   */
  close(): Promise<void>
}

/** Bounds the memory while a collector is away for long, to about 4 MiB. */
const SPANS_WAITING_MAX = 8_192
const SPANS_PER_REQUEST_MAX = 512
const SEND_EVERY_MS = 1_000
const ANSWER_TIMEOUT_MS = 5_000
/** Pause between two log lines about a collector that does not answer. */
const SAID_EVERY_MS = 60_000
const PATH = '/v1/traces'
const KINDS = { internal: 1, server: 2 } as const
const STATUS_ERROR = 2

/** @param endpoint without the path of traces, as in OTEL_EXPORTER_OTLP_ENDPOINT */
export function createOtlpExporter(
  endpoint: string,
  log: { warn(context: object, message: string): void },
): SpanExporter {
  const url = endpoint.replace(/\/+$/, '') + PATH
  let waiting: Span[] = []
  let dropped = 0
  let saidMs = Number.NEGATIVE_INFINITY
  let flushing: Promise<void> | null = null

  function lost(count: number, reason: string): void {
    dropped += count
    if (performance.now() - saidMs < SAID_EVERY_MS) return
    saidMs = performance.now()
    log.warn({ dropped, reason }, 'spans are lost: the collector does not accept them')
  }

  /** @returns whether the collector accepted them */
  async function send(spans: readonly Span[]): Promise<boolean> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(spans)),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        redirect: 'error',
      })
      await answer.body?.cancel()
      if (!answer.ok) lost(spans.length, `status ${answer.status}`)
      return answer.ok
    } catch (error) {
      lost(spans.length, error instanceof Error ? error.name : 'unknown')
      return false
    }
  }

  /** Sends one request at a time. After a refusal the remaining spans wait for the next round. */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      if (!(await send(waiting.splice(0, SPANS_PER_REQUEST_MAX)))) return
    }
  }

  function flush(): Promise<void> {
    flushing ??= sendAll().finally(() => {
      flushing = null
    })
    return flushing
  }

  const timer = setInterval(() => {
    if (waiting.length > 0) void flush()
  }, SEND_EVERY_MS)
  timer.unref()

  return {
    add(span) {
      if (waiting.length < SPANS_WAITING_MAX) waiting.push(span)
      else lost(1, 'too many spans wait')
    },
    async close() {
      clearInterval(timer)
      await flush()
      waiting = []
    },
  }
}

function bodyOf(spans: readonly Span[]) {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'countersign' }) },
        scopeSpans: [{ scope: { name: 'countersign' }, spans: spans.map(encodeSpan) }],
      },
    ],
  }
}

function encodeSpan({ parentSpanId, kind, startMs, endMs, attributes, failed, ...ids }: Span) {
  return {
    ...ids,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    kind: KINDS[kind],
    startTimeUnixNano: nanosOf(startMs),
    endTimeUnixNano: nanosOf(endMs),
    attributes: attributesOf(attributes),
    status: failed ? { code: STATUS_ERROR } : {},
  }
}

/** Decimal text, because the number exceeds what JSON numbers hold exactly. */
function nanosOf(ms: number): string {
  return `${Math.round(ms * 1_000)}000`
}

function attributesOf(attributes: Span['attributes']) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}
