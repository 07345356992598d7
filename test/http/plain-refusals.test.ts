import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseInput } from '../../src/api/parse.js'
import { sendTransactionInput } from '../../src/api/transaction.js'
import { insufficientFunds } from '../../src/errors/insufficient-funds.js'
import { capsOutOfOrder } from '../../src/operations/console/caps-in-order.js'
import { type Harness, startHarness, TRADE_SECRET } from './harness.js'

/** Refusals whose message alone has to tell a newcomer what to do next. */

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({})
})
afterAll(() => harness.server.close())

async function ask(method: string, path: string, body?: unknown) {
  const response = await fetch(`${harness.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': TRADE_SECRET, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  return { status: response.status, ...error }
}

const TO = `0x${'a'.repeat(40)}`

describe('a refusal says in its message', () => {
  it.each(['/api/wallets', '/api/tx', '/nowhere'])(
    'where the routes of %s are listed',
    async (p) => {
      const { status, code, message } = await ask('GET', p)
      expect([status, code]).toEqual([404, 'NOT_FOUND'])
      expect(message).toContain('/docs')
    },
  )

  it('which field of a request is wrong, and what would be right there', async () => {
    const wrong = await ask('POST', '/api/tx/send', { chain_id: 8453, to: '0x12' })
    expect(wrong).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
    expect(wrong.message).toMatch(/: to must be .*\.$/)
    const missing = await ask('POST', '/api/tx/send', { chain_id: 8453 })
    expect(missing.message).toMatch(/: to is missing: give .*\.$/)
  })

  it('how many more are', () => {
    const parsed = parseInput(sendTransactionInput, { chain_id: 1, value: 'x', data: 'y' })
    expect(parsed.ok || parsed.fault.message).toMatch(/ \(and 2 more in details\.issues\)\.$/)
  })

  it('that no key can have a chain that is none of the six', async () => {
    const { status, code, message } = await ask('GET', '/api/wallet/native-balance?chain_id=999')
    expect([status, code]).toEqual([403, 'CHAIN_NOT_ALLOWED'])
    expect(message).toMatch(/no API key can/)
    const valid = { chain_id: 999, to: TO }
    expect((await ask('POST', '/api/tx/send', valid)).message).toMatch(/no API key can/)
  })

  it('what a person calls the token that is missing', () => {
    const shortfall = { token: TO as `0x${string}`, have: 0n, need: 5n }
    const { message, details } = insufficientFunds({ ...shortfall, words: 'WETH, wrapped' })
    expect(message).toContain('WETH, wrapped')
    expect(details).toEqual({ token: TO, have: '0', need: '5' })
  })
})

describe('caps', () => {
  it.each([
    [5n, 4n, false],
    [5n, 5n, true],
    [4n, 5n, true],
    [null, 5n, true],
    [5n, null, true],
    [null, null, true],
  ])('of %s a day and %s a month: taken is %s', (dailyLimitMicros, monthlyLimitMicros, isTaken) => {
    const refused = capsOutOfOrder({
      dailyLimitMicros,
      monthlyLimitMicros,
    } as Parameters<typeof capsOutOfOrder>[0])
    expect(refused === null).toBe(isTaken)
    if (refused !== null) {
      expect(refused.code).toBe('INVALID_REQUEST')
      expect(refused.message).toContain('daily_limit_usd must not exceed monthly_limit_usd')
    }
  })
})
