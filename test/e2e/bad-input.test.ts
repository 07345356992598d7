import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEV_CHAINS } from '../../scripts/dev/chains/dev-chains.js'
import type { HttpClient } from '../support/http-client.js'
import { badRequests, type Row } from './bad-input-rows.js'
import { chainView } from './chain.js'
import { issueKey, type Stack, startStack } from './stack.js'

/** What a bad request must not change. */
interface Books {
  readonly limits: unknown
  readonly transactions: unknown
  readonly keys: unknown
  readonly nonces: readonly number[]
  readonly servicePid: number | null
}

describe('bad input', () => {
  let stack: Stack
  beforeAll(async () => {
    stack = await startStack()
  })
  afterAll(() => stack?.service.stop())

  test('is refused with its own code and changes nothing', async () => {
    const { api } = await issueKey(stack)
    const { service, owner } = stack
    const { keys } = service.dev()
    const nobody = service.api(null)
    const reader = service.api(keys.read.secret)
    const ask = ({ as, method, path, body, headers }: Row) => {
      const options = { ...(body === undefined ? {} : { body }), ...(headers ? { headers } : {}) }
      if (as === 'owner') return owner.call(method, path.replace('/api/v1/agent', ''), options)
      const client: HttpClient =
        as === undefined
          ? api
          : as === 'nobody'
            ? nobody
            : as === 'reader'
              ? reader
              : service.api(as.secret)
      return client.call(method, path, options)
    }
    const before = await books(api)
    const wrong: string[] = []
    for (const row of badRequests(stack)) {
      const { status, code, json, text } = await ask(row)
      const { error } = json
      const shaped =
        typeof error?.message === 'string' &&
        typeof error.details === 'object' &&
        typeof error.request_id === 'string'
      // Of the JavaScript engine, the file system, or this project's own sources.
      const leaks = /node_modules|\.js:\d|at \w+ \(|ENOENT|zod/i.test(text)
      if (status !== row.status || code !== row.code || !shaped || leaks) {
        wrong.push(`${row.title}: ${status} ${text.slice(0, 200)}`)
      }
    }
    expect(wrong).toEqual([])
    expect(await books(api)).toEqual(before)
  })

  test('leaves the service able to send', async () => {
    const sent = await stack.service.api().post('/api/tx/send', {
      chain_id: 8453,
      to: stack.service.dev().address,
      value: '1',
    })
    expect(sent.status, sent.text).toBe(200)
  })

  async function books(api: HttpClient): Promise<Books> {
    const { service, owner } = stack
    const dev = service.dev()
    return {
      limits: (await api.get('/api/limits')).json,
      transactions: (await owner.get('/transactions')).json,
      keys: (await owner.get('/keys')).json.keys?.map(({ last_used_at: _, ...key }) => key),
      nonces: await Promise.all(
        DEV_CHAINS.map(({ id }) => chainView(dev, id).nonceOf(dev.address)),
      ),
      servicePid: dev.pids.service,
    }
  }
})
