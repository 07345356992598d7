import { describe, expect, test } from 'vitest'
import { authorizeChain, authorizeOperation } from '../../src/auth/authorize.js'
import { fault } from '../../src/errors/fault.js'
import { TRADE_SECRET, testKey } from '../http/harness.js'

const FROZEN = fault('FROZEN')
const trader = testKey(TRADE_SECRET, { allowedChains: [1, 8453] })
const reader = testKey(TRADE_SECRET, { permission: 'read' })

describe('permission, and what is frozen', () => {
  test.each([
    [{ key: reader }, 'read', null],
    [{ key: reader, frozen: FROZEN }, 'trade', 'PERMISSION_DENIED'],
    [{ key: trader, frozen: FROZEN }, 'read', null],
    [{ key: trader }, 'trade', null],
    [{ key: trader, frozen: FROZEN }, 'trade', 'FROZEN'],
  ] as const)('%#', (caller, permission, code) => {
    expect(authorizeOperation(caller, { permission })?.code ?? null).toBe(code)
  })
})

describe('allowed chains', () => {
  test.each([
    [{ chain_id: 1 }, null],
    [{ chain_id: 10 }, 'CHAIN_NOT_ALLOWED'],
    [{ chain_id: 0 }, 'CHAIN_NOT_ALLOWED'],
    [{ chain_id: 999_999 }, 'CHAIN_NOT_ALLOWED'],
    [{ chain_id: '10' }, null],
    [{ chain_id: -1 }, null],
    [{ chain_id: 1.5 }, null],
    [{}, null],
    [null, null],
    ['10', null],
  ])('%j → %s', (input, code) => {
    expect(authorizeChain(trader, input)?.code ?? null).toBe(code)
  })
})
