import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openApiDocument } from '../../src/api/openapi.js'
import { CONSOLE_TOKEN, type Harness, readError, startHarness, TRADE_SECRET } from './harness.js'

/** No content coding is undone, and no encoded body is read as if it were not (RFC 9110, section 8.4). */

const SEND = JSON.stringify({ chain_id: 1, to: `0x${'ab'.repeat(20)}`, value: '1' })
const HEADERS = {
  'x-api-key': TRADE_SECRET,
  authorization: `Bearer ${CONSOLE_TOKEN}`,
  'content-type': 'application/json',
}

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.server.close())

function ask(
  path: string,
  coding: string,
  body?: string | Uint8Array<ArrayBuffer>,
): Promise<Response> {
  return fetch(harness.baseUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...HEADERS, 'content-encoding': coding },
    ...(body === undefined ? {} : { body }),
  })
}

describe('a request with a content coding', () => {
  test.each([
    ['a write, compressed', '/api/tx/send', 'gzip', gzipSync(SEND)],
    ['a write that only says so', '/api/tx/send', 'gzip', SEND],
    ['a write with two codings', '/api/tx/send', 'identity, br', SEND],
    ['a console operation', '/api/v1/agent/webhooks', 'deflate', '{}'],
    ['a read', '/api/limits', 'gzip', undefined],
    ['what needs no key', '/healthz', 'zstd', undefined],
  ])('%s: 415 that names identity, and nothing is called', async (_what, path, coding, body) => {
    const before = harness.last()
    const response = await ask(path, coding, body)
    expect(response.status).toBe(415)
    expect(response.headers.get('accept-encoding')).toBe('identity')
    expect(await readError(response)).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' })
    expect(harness.last()).toBe(before)
  })

  test.each(['identity', 'Identity', ''])('%j is none', async (coding) => {
    const response = await ask('/api/tx/send', coding, SEND)
    expect(response.status).toBe(200)
    expect(harness.last()?.input).toEqual(JSON.parse(SEND))
  })

  test('the document of the interface names the header', () => {
    const paths = openApiDocument().paths as unknown as Readonly<
      Record<string, { readonly post: { readonly responses: { readonly 415: object } } }>
    >
    expect(paths['/api/tx/send']?.post.responses[415]).toMatchObject({
      headers: { 'Accept-Encoding': { $ref: '#/components/headers/AcceptEncoding' } },
    })
  })

  test('a 415 for another type names no coding', async () => {
    const headers = { ...HEADERS, 'content-type': 'text/plain' }
    const init = { method: 'POST', headers, body: SEND }
    const response = await fetch(`${harness.baseUrl}/api/tx/send`, init)
    expect(response.status).toBe(415)
    expect(response.headers.get('accept-encoding')).toBeNull()
  })
})
