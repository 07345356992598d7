import { beforeEach, describe, expect, test } from 'vitest'
import { restoredEntry } from '../../actors/account/core/state.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import {
  apiKey,
  preparedSend,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
  wallet,
} from '../actors/wallet-fixtures.js'
import { openWallet, spentBy } from './wallet-world.js'

const MINED: MinedIn = {
  ...{ txHash: '0x01', blockNumber: 1, blockHash: '0x0b', outcome: 'success', feeWei: 1n },
}
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
    state.open.set(tx.txId, restoredEntry({ ...tx, mined: MINED }, 'sent'))
    expect(cancel()).toMatchObject({ effects: [], code: 'INVALID_REQUEST' })
    expect(cancel(txIdOf(99))).toMatchObject({ effects: [], code: 'INVALID_REQUEST' })
  })

  test.each([
    ['what outbids it', '0x02', 'dropped', 1n],
    ['its own bytes', '0x01', 'confirmed', 51n],
  ] as const)('ends by what lands: %s', async (_bytes, txHash, status, dayMicros) => {
    const { txId } = tx
    const world = await cancelled()
    expect(spentBy(world).reservedMicros).toBeGreaterThan(0n)
    const mined = { ...MINED, txHash }
    const { blockHash } = MINED
    await world.handle({ type: 'confirmed', txId, mined, nowMs: START_MS })
    const receipt = { shownMicros: 50n, unvalued: null, nowMs: START_MS } as const
    await world.handle({ type: 'receipt-valued', txId, blockHash, ...receipt })
    expect(world.reader.transactions.byId(txId)).toMatchObject({ status, nonce: 0 })
    expect(spentBy(world)).toMatchObject({ reservedMicros: 0n, dayMicros })
  })
  test.each([
    ['for want of funds', fault('INSUFFICIENT_FUNDS')],
    ['for its bytes', fault('CHAIN_REJECTED', { reason: 'intrinsic-gas' })],
  ])('is not given up where a node refuses what outbids it %s', async (_why, refused) => {
    const { txId } = tx
    const world = await cancelled()
    const outcome = { kind: 'rejected', fault: refused } as const
    const of = { txId, blockNumber: 1, nowMs: START_MS } as const
    await world.handle({ type: 'broadcast-outcome', ...of, txHash: '0x02', outcome })
    expect(world.reader.transactions.byId(txId)?.status).toBe('signed')
    expect(spentBy(world).reservedMicros).toBeGreaterThan(0n)
  })
})

/** Outbid while a node is being asked to take its own bytes. */
async function cancelled(): Promise<Awaited<ReturnType<typeof openWallet>>> {
  const { txId } = tx
  const world = await openWallet(1_000n)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  const signed = { txHash: '0x01', rawTransaction: '0x01', intentId: '0x01' } as const
  const at = { txId, nonce: 0, nowMs: START_MS } as const
  const bid = { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }
  await world.handle(preparedSend(1, 50n, { nowMs: START_MS }), 1)
  await world.handle({ type: 'screened', txId, ...screened, nowMs: START_MS })
  await world.handle({ type: 'signed', ...at, signed: { ...signed, signedAtMs: START_MS } })
  await world.handle({ type: 'cancel-transaction', txId, nowMs: START_MS })
  await world.handle({
    ...{ type: 'replacement-signed', ...at, purpose: 'cancel', fees: bid },
    signed: { ...signed, txHash: '0x02', signedAtMs: START_MS },
  })
  return world
}
