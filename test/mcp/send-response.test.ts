import { expect, test, vi } from 'vitest'
import type { Exchange } from '../../src/http/exchange.js'
import { sendResponse } from '../../src/mcp/send-response.js'

test('a subscription whose caller went away before its stream began ends, and so does its exchange', async () => {
  const cancel = vi.fn()
  const stream = { write: () => true, end: vi.fn() }
  const exchange = {
    aborted: true,
    gate: { draining: false },
    // Of an abort that has been nobody is told.
    onAbort: () => undefined,
    stream: () => stream,
  } as unknown as Exchange
  const body = new ReadableStream({ cancel })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  await sendResponse(exchange, response, { outlives: 'nothing', form: 'either', isBatch: false })
  expect(cancel).toHaveBeenCalledOnce()
  expect(stream.end).toHaveBeenCalledOnce()
})
