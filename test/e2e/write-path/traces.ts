import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { newAddress } from '../chain.js'
import { finalOf, type Stack } from '../stack.js'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code?: number }
}

interface Body {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[]
  }[]
}

export interface Collector {
  readonly url: string
  /** Bodies as they came. */
  readonly bodies: readonly string[]
  ofTrace(traceId: string): CollectedSpan[]
  stop(): void
}

/** Takes what an OpenTelemetry collector takes. */
export async function startCollector(): Promise<Collector> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => {
      text += piece
    })
    request.on('end', () => {
      const isTraces = request.method === 'POST' && request.url === '/v1/traces'
      if (isTraces && request.headers['content-type'] === 'application/json') bodies.push(text)
      response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    ofTrace: (traceId) =>
      bodies
        .flatMap((text) => (JSON.parse(text) as Body).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .filter((span) => span.traceId === traceId),
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const STEPS = [
  ...['accepted', 'prepared', 'reserved', 'screened', 'signed', 'stored', 'broadcast'],
  ...['mined', 'confirmed'],
]
const PARENT = 'b7ad6b7169203331'
const SERVER = 2
const ERROR = 2
const attribute = (span: CollectedSpan | undefined, key: string) =>
  span?.attributes.find((one) => one.key === key)?.value

export function describeTraces(stack: () => Stack, collector: () => Collector): void {
  describe('traces', () => {
    test("a send goes on with its caller's trace, and has a span for each step", async () => {
      const traceId = '0af7651916cd43dd8448eb211c80319c'
      const api = stack().service.api()
      const to = newAddress()
      const sent = await api.post(
        '/api/tx/send',
        { chain_id: 8_453, to, value: '1003', data: '0x' },
        { traceparent: `00-${traceId}-${PARENT}-01` },
      )
      expect(sent.status, sent.text).toBe(200)
      await finalOf(api, sent.json.tx_id)
      await vi.waitFor(() => expect(collector().ofTrace(traceId)).toHaveLength(1 + STEPS.length), {
        timeout: 20_000,
        interval: 100,
      })
      const spans = collector().ofTrace(traceId)
      const root = spans.find(({ kind }) => kind === SERVER)
      expect(root).toMatchObject({ name: 'send_transaction', parentSpanId: PARENT, status: {} })
      const steps = spans.filter((span) => span !== root)
      expect(steps.map(({ name }) => name)).toEqual(STEPS)
      for (const span of steps) {
        expect(span.parentSpanId).toBe(root?.spanId)
        expect(attribute(span, 'countersign.tx_id')?.stringValue).toBe(sent.json.tx_id)
        expect(attribute(span, 'countersign.chain_id')?.intValue).toBe('8453')
        expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
      }
      // Ids and codes are all that leaves: no key, no address, no calldata.
      const all = collector().bodies.join('\n').toLowerCase()
      expect(all).not.toContain(to.toLowerCase())
      expect(all).not.toContain(stack().service.dev().keys.trade.secret.toLowerCase())
    })

    test('a tool call is a span by the conventions of MCP, and says why it was refused', async () => {
      const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
      const amount = '900000000000000000000000000'
      const args = { chain_id: 8_453, to: newAddress(), value: amount, data: '0x' }
      const params = { name: 'send_transaction', arguments: args }
      await stack()
        .service.api()
        .post(
          '/mcp',
          { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
          {
            accept: 'application/json, text/event-stream',
            traceparent: `00-${traceId}-${PARENT}-01`,
          },
        )
      const root = () =>
        collector()
          .ofTrace(traceId)
          .find(({ kind }) => kind === SERVER)
      await vi.waitFor(() => expect(root()).toBeDefined(), { timeout: 20_000, interval: 100 })
      expect(root()).toMatchObject({
        name: 'tools/call send_transaction',
        parentSpanId: PARENT,
        status: { code: ERROR },
      })
      expect(attribute(root(), 'mcp.method.name')?.stringValue).toBe('tools/call')
      expect(attribute(root(), 'gen_ai.tool.name')?.stringValue).toBe('send_transaction')
      expect(attribute(root(), 'error.type')?.stringValue).toBe('LIMIT_EXCEEDED')
    })

    test("a message's own trace goes before its request's", async () => {
      const [ofMessage, ofRequest] = ['3'.repeat(32), '4'.repeat(32)]
      const params = {
        name: 'get_limits',
        arguments: {},
        _meta: { traceparent: `00-${ofMessage}-${PARENT}-01` },
      }
      const answered = await stack()
        .service.api()
        .post(
          '/mcp',
          { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
          {
            accept: 'application/json, text/event-stream',
            traceparent: `00-${ofRequest}-${PARENT}-01`,
          },
        )
      expect(answered.status, answered.text).toBe(200)
      await vi.waitFor(() => expect(collector().ofTrace(ofMessage)).toHaveLength(1), {
        timeout: 20_000,
        interval: 100,
      })
      expect(collector().ofTrace(ofMessage)[0]).toMatchObject({
        name: 'tools/call get_limits',
        parentSpanId: PARENT,
      })
      expect(collector().ofTrace(ofRequest)).toEqual([])
    })

    test('what its caller does not record, nor does the service', async () => {
      const [unsampled, after] = ['1'.repeat(32), '2'.repeat(32)]
      const api = stack().service.api()
      for (const [traceId, flags] of [
        [unsampled, '00'],
        [after, '01'],
      ]) {
        await api.get('/api/limits', { traceparent: `00-${traceId}-${PARENT}-${flags}` })
      }
      // Spans leave in their order: the second is there once the first would be.
      await vi.waitFor(() => expect(collector().ofTrace(after)).toHaveLength(1), {
        timeout: 20_000,
        interval: 100,
      })
      expect(collector().ofTrace(unsampled)).toEqual([])
    })
  })
}
