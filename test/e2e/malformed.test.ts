import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runMalformed } from './malformed-run.js'
import { issueKey, type Stack, startStack } from './stack.js'

/** `npm run test:long -- malformed` sends 200,000. Its seed repeats a failing run. */
const REQUESTS = Number(process.env.MALFORMED_REQUESTS ?? 4_000)
const SEED = Number(process.env.MALFORMED_SEED ?? 1)
/** Each may ask 200 times a second; with fewer most requests would be refused for that alone. */
const KEYS = 16

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack?.service.stop())

describe('malformed requests', () => {
  test(
    'are each refused with their own code, serve nothing hidden behind them, and change nothing',
    async () => {
      const made = await stack.owner.post('/wallets', { name: 'empty' })
      // Nothing to spend: what happens to be well-formed moves nothing.
      const subWalletId = String(made.json.sub_wallet_id)
      const keys = await Promise.all(
        Array.from({ length: KEYS }, () => issueKey(stack, { subWalletId })),
      )
      const consoleToken = await stack.service.token()
      const nodes = stack.service.nodes()
      const port = Number(new URL(stack.service.dev().base_url).port)
      const credentials = keys.map(({ secret }) => ({ apiKey: secret, consoleToken }))
      const wrong = await runMalformed({ port, requests: REQUESTS, seed: SEED, credentials })
      expect(wrong, `seed ${SEED}`).toEqual([])
      expect(stack.service.nodes()).toEqual(nodes)
      for (const { api } of keys) {
        const { json } = await api.get('/api/limits')
        expect(json).toMatchObject({ daily_used_usd: '0.00', reserved_usd: '0.00' })
      }
    },
    60_000 + REQUESTS * 5,
  )
})
