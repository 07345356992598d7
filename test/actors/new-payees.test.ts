import { expect, test } from 'vitest'
import { newPayeesOf } from '../../actors/sub-wallet/core/breaker-watch.js'
import { emptyState } from '../../actors/sub-wallet/core/state.js'
import type { Address } from '../../src/domain/ids.js'
import { transaction, WALLET_ID } from './wallet-fixtures.js'

const PAID: Address = `0x${'ab'.repeat(20)}`
const CALL = { chainId: 8453, to: PAID, value: 1n, data: '0x' } as const
const TX = { ...transaction(1), call: CALL }
const WATCH = { refused: false, signed: true, payees: true }

test('a payee is new to a breaker unless it is known that the wallet has paid him', () => {
  const state = emptyState(WALLET_ID)
  state.userWatch = WATCH
  expect(newPayeesOf(state, TX), 'nobody knows').toEqual([PAID])
  state.payees = new Map()
  expect(newPayeesOf(state, TX)).toEqual([PAID])
  state.payees.set(PAID, 1)
  expect(newPayeesOf(state, TX)).toEqual([])
})

test('nobody is, where no breaker asks, and none that people approved while nobody knows', () => {
  const state = emptyState(WALLET_ID)
  expect(newPayeesOf(state, TX)).toEqual([])
  state.userWatch = WATCH
  const approval = { approvalId: 'apr_1' } as unknown as NonNullable<typeof TX.approval>
  expect(newPayeesOf(state, { ...TX, approval })).toEqual([])
})
