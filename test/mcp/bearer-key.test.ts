import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/config/logging.js'
import { READ_SECRET, TRADE_SECRET } from '../http/harness.js'
import { type McpHarness, startMcpHarness } from './harness.js'
import { toolCall } from './message.js'

let harness: McpHarness
beforeAll(async () => {
  harness = await startMcpHarness({})
})
afterAll(() => harness.server.close())

async function post(headers: Readonly<Record<string, string>>, path = '/mcp') {
  const response = await fetch(new URL(path, harness.baseUrl), {
    method: path === '/mcp' ? 'POST' : 'GET',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(path === '/mcp' ? { body: JSON.stringify(toolCall('get_limits', {})) } : {}),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

describe('an API key as a bearer token', () => {
  it.each([
    { authorization: `Bearer ${TRADE_SECRET}` },
    { authorization: `bearer   ${TRADE_SECRET}` },
    { authorization: `Bearer ${TRADE_SECRET}`, 'x-api-key': TRADE_SECRET },
    { authorization: 'Bearer some.gateway.token', 'x-api-key': TRADE_SECRET },
    { authorization: 'Basic c2tfdGVzdA==', 'x-api-key': TRADE_SECRET },
  ])('is taken at /mcp: %j', async (headers) => {
    expect((await post(headers)).status).toBe(200)
  })

  it('is refused beside another key, by name of the two headers', async () => {
    const both = { authorization: `Bearer ${TRADE_SECRET}`, 'x-api-key': READ_SECRET }
    const { status, text, headers } = await post(both)
    expect(status).toBe(401)
    expect(JSON.parse(text).error).toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringMatching(/X-Api-Key and Authorization .* different/),
    })
    // A challenge would start an OAuth dance in most hosts.
    expect(headers.get('www-authenticate')).toBeNull()
  })

  it.each([
    [{ authorization: 'Bearer some.gateway.token' }, 'UNAUTHENTICATED'],
    [{ authorization: `Bearer sk_test_${'x'.repeat(31)}` }, 'UNAUTHENTICATED'],
    [{ authorization: `Bearer sk_test_${'x'.repeat(32)}` }, 'INVALID_KEY'],
    [{ authorization: `Basic ${TRADE_SECRET}` }, 'UNAUTHENTICATED'],
  ])('is refused where it is none, or unknown: %j', async (headers, code) => {
    const { status, text } = await post(headers)
    expect(status).toBe(401)
    expect(JSON.parse(text).error.code).toBe(code)
  })

  it('is taken at /mcp alone', async () => {
    const given = await post({ authorization: `Bearer ${TRADE_SECRET}` }, '/api/limits')
    expect(given.status).toBe(401)
  })

  it('stands in no line of the log', () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const logger = createLogger({ name: 'service', level: 'info', destination })
    const headers = { authorization: `Bearer ${TRADE_SECRET}`, 'x-api-key': TRADE_SECRET }
    logger.info({ headers, req: { headers }, ...headers }, 'a request')
    const logged = lines.join('')
    expect(logged).toContain('[redacted]')
    expect(logged).not.toContain(TRADE_SECRET)
    expect(JSON.stringify(harness.logged)).not.toContain(TRADE_SECRET)
  })
})
