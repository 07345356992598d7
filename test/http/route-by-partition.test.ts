import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import type { UserId } from '../../src/domain/ids.js'
import { partitionOf } from '../../src/domain/partition.js'
import { partitionOfRequest } from '../../src/http/partition-of-request.js'
import { newKeySecret } from '../../src/operations/console/key-secret.js'

const ADA = 'ada' as UserId
const CLUB = 'a club of many' as UserId
const NOBODY = { xApiKey: '', authorization: '' }

const keyOf = (user: UserId) => newKeySecret('test', user, systemTimers()).secret
async function tokenOf(claims: Record<string, unknown>) {
  const signed = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' })
  return `Bearer ${await signed.sign(new Uint8Array(32))}`
}

describe('whose a request is', () => {
  test('goes by the key of agents, over REST and MCP', () => {
    const xApiKey = keyOf(ADA)
    for (const path of ['/api/limits', '/api/tx/tx_1', '/mcp']) {
      expect(partitionOfRequest(path, { ...NOBODY, xApiKey })).toBe(partitionOf(ADA))
    }
  })

  test('goes by the key that an agent gives as a bearer token, over MCP alone', () => {
    const bearer = { ...NOBODY, authorization: `Bearer ${keyOf(ADA)}` }
    expect(partitionOfRequest('/mcp', bearer)).toBe(partitionOf(ADA))
    expect(partitionOfRequest('/api/limits', bearer)).toBeNull()
    const both = { xApiKey: keyOf(CLUB), authorization: 'Bearer of.a.gateway' }
    expect(partitionOfRequest('/mcp', both)).toBe(partitionOf(CLUB))
  })

  test('goes by the account that a console token is for', async () => {
    const path = '/api/v1/agent/wallets'
    const own = { ...NOBODY, authorization: await tokenOf({ sub: ADA }) }
    expect(partitionOfRequest(path, own)).toBe(partitionOf(ADA))
    const club = await tokenOf({ sub: ADA, countersign_account: CLUB, countersign_role: 'viewer' })
    expect(partitionOfRequest(path, { ...NOBODY, authorization: club })).toBe(partitionOf(CLUB))
  })

  test('goes by the one of both that its path is asked by', async () => {
    const both = { xApiKey: keyOf(ADA), authorization: await tokenOf({ sub: CLUB }) }
    expect(partitionOfRequest('/api/limits', both)).toBe(partitionOf(ADA))
    expect(partitionOfRequest('/api/v1/agent/keys', both)).toBe(partitionOf(CLUB))
  })

  test('is not said by what names nobody, or is of nobody', () => {
    for (const authorization of ['', 'Bearer', 'Bearer a.b.c', 'Bearer a.bnVsbA.c', 'x.e30.y']) {
      const request = { ...NOBODY, authorization }
      expect(partitionOfRequest('/api/v1/agent/wallets', request)).toBeNull()
    }
    const xApiKey = keyOf(ADA)
    for (const path of ['/readyz', '/healthz', '/console', '/docs', '/api', '/openapi.json']) {
      expect(partitionOfRequest(path, { ...NOBODY, xApiKey })).toBeNull()
    }
    for (const xApiKey of ['', 'sk_test_none', `sk_test_${'!'.repeat(32)}`]) {
      expect(partitionOfRequest('/api/limits', { ...NOBODY, xApiKey })).toBeNull()
    }
  })
})
