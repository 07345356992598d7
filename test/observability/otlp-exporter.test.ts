import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createOtlpExporter, type Span } from '../../src/service/otlp-exporter.js'

/** More than one request holds. */
const SPANS = 1_500
const span: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: null,
  name: 'send_transaction',
  kind: 'server',
  startMs: 1_000,
  endMs: 1_002,
  attributes: { 'countersign.chain_id': 8453 },
  failed: false,
}
const quiet = { warn() {} }

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function collectorAt(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('sends all that waits when the service ends', async () => {
  let count = 0
  const collector = await collectorAt(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    count += JSON.parse(text).resourceSpans[0].scopeSpans[0].spans.length
    response.end('{}')
  })
  const exporter = createOtlpExporter(collector, quiet)
  for (let i = 0; i < SPANS; i++) exporter.add(span)
  await exporter.close()
  expect(count).toBe(SPANS)
})

it('a collector that takes nothing is asked once when the service ends, however much waits', async () => {
  let requests = 0
  const collector = await collectorAt((_request, response) => {
    requests++
    response.writeHead(503).end()
  })
  const exporter = createOtlpExporter(collector, quiet)
  for (let i = 0; i < SPANS; i++) exporter.add(span)
  await exporter.close()
  expect(requests).toBe(1)
})
