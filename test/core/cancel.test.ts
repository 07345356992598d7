import { beforeEach, describe, expect, test } from 'vitest'
import { restoredEntry } from '../../actors/account/core/state.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { Transaction } from '../../src/domain/transaction.js'
import {
  apiKey,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
  wallet,
} from '../actors/wallet-fixtures.js'

let state: SubWalletState
let tx: Transaction

beforeEach(() => {
  state = emptyState(WALLET_ID)
  decide(state, { type: 'create-wallet', wallet }, null)
  decide(state, { type: 'register-key', key: apiKey() }, null)
  tx = transaction(1)
  state.open.set(tx.txId, restoredEntry(tx, 'sent'))
})

function cancel(txId = tx.txId) {
  const command: Command = { type: 'cancel-transaction', txId, nowMs: START_MS }
  const { effects, replies } = decide(state, command, 1)
  const [reply] = replies
  const code = reply?.result.ok === false ? reply.result.fault.code : null
  return { effects, code }
}

describe('a transaction that its owner does not want any more', () => {
  test('is outbid at its own nonce, once, and its spend stays reserved', () => {
    const { effects, code } = cancel()
    expect(code).toBeNull()
    expect(effects).toMatchObject([{ type: 'replace', purpose: 'cancel', tx: { txId: tx.txId } }])
    expect(state.open.get(tx.txId)?.tx.reservation).toEqual(tx.reservation)
    expect(cancel()).toMatchObject({ effects: [], code: 'OVERLOADED' })
  })

  test('is outbid though its wallet is frozen', () => {
    const frozen = { scope: 'user', sinceMs: START_MS, reason: null, by: 'user' } as const
    state.freezes = { instance: null, user: frozen, wallets: new Map(), lineages: new Map() }
    expect(cancel().effects).toMatchObject([{ type: 'replace', purpose: 'cancel' }])
  })

  test('is left alone once a block has it, and where there is none', () => {
    const mined = { ...tx, mined: { blockHash: '0x1' } } as unknown as Transaction
    state.open.set(tx.txId, restoredEntry(mined, 'sent'))
    expect(cancel()).toMatchObject({ effects: [], code: 'INVALID_REQUEST' })
    expect(cancel(txIdOf(99))).toMatchObject({ effects: [], code: 'INVALID_REQUEST' })
  })
})
