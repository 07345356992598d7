import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { findKnownCall } from '../../src/service/known-call.js'

const SECRET = `sk_test_${'a'.repeat(32)}`
const TX_ID = 'tx_1'
const KNOWN = ['x-api-key', SECRET, 'idempotency-key', 'once']

const reader = {
  fresh: () => ({
    keys: {
      byHash: (hashed: string) =>
        hashed === hash('sha256', SECRET) ? { lineageId: 'line_1' } : undefined,
    },
    idempotency: {
      byKey: (lineage: string, key: string) =>
        lineage === 'line_1' && key === 'once' ? { txId: TX_ID } : undefined,
    },
  }),
} as unknown as Parameters<typeof findKnownCall>[0]

test.each([
  ['by its Idempotency-Key', KNOWN, TX_ID],
  ['by the other name of that header', ['x-api-key', SECRET, 'x-idempotency-key', 'once'], TX_ID],
  ['whose key is not in the store', ['x-api-key', SECRET, 'idempotency-key', 'twice'], null],
  ['without an Idempotency-Key', ['x-api-key', SECRET], null],
  ['with two that differ', [...KNOWN, 'x-idempotency-key', 'twice'], null],
  ['of another API key', ['x-api-key', SECRET.replace('a', 'b'), 'idempotency-key', 'once'], null],
  ['without an API key', ['idempotency-key', 'once'], null],
])('a node that waits knows a call %s: %j is %j', (_, headers, known) => {
  expect(findKnownCall(reader, headers)).toBe(known)
})
