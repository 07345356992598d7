import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Stack, startStack } from './stack.js'
import { describeIdempotency } from './write-path/idempotency.js'
import { describeKeys } from './write-path/keys.js'
import { describeParity } from './write-path/parity.js'
import { describeReads } from './write-path/reads.js'
import { describeScreening } from './write-path/screening.js'
import { describeSends } from './write-path/sends.js'

/** The lifecycle of a send over the whole stack: real chains, real signatures, real deliveries. */
describe('the write path', () => {
  let running: Stack
  beforeAll(async () => {
    running = await startStack()
  })
  afterAll(() => running?.service.stop())
  const stack = () => running

  describeSends(stack)
  describeReads(stack)
  describeKeys(stack)
  describeIdempotency(stack)
  describeScreening(stack)
  describeParity(stack)

  test('every answer carries the request id of its caller, or one of its own', async () => {
    const api = stack().service.api()
    const named = await api.get('/api/limits', { 'x-request-id': 'order-4711' })
    expect(named.headers.get('x-request-id')).toBe('order-4711')
    const own = await api.get('/api/limits')
    expect(own.headers.get('x-request-id')).toMatch(/^\S{8,}$/)
    const refused = await api.get('/api/nothing', { 'x-request-id': 'order-4712' })
    expect(refused.headers.get('x-request-id')).toBe('order-4712')
    expect(refused.json.error?.request_id).toBe('order-4712')
    const insane = await api.get('/api/limits', { 'x-request-id': 'a b'.repeat(200) })
    expect(insane.headers.get('x-request-id')).not.toContain(' ')
  })
})
