import { expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/decide.js'
import { emptyState, laneOf, restoredEntry } from '../../actors/sub-wallet/state.js'
import type { SubWalletId, TxId } from '../../src/domain/ids.js'
import {
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  KEY_ID,
  START_MS,
  transaction,
  wallet,
} from './wallet-fixtures.js'

const GAP = 4

/** The id of what closes the gap below a wallet's only transaction. */
function idOfFilling(subWalletId: SubWalletId): TxId {
  const state = emptyState(subWalletId)
  state.wallet = { ...wallet, subWalletId }
  state.keys.set(KEY_ID, apiKey({ subWalletId }))
  const above = transaction(1, { subWalletId, nonce: GAP + 1, attempts: [ATTEMPT] })
  state.open.set(above.txId, restoredEntry(above, 'sent'))
  const lane = laneOf(state, CHAIN_ID)
  lane.nextNonce = GAP + 2
  lane.flight.push(above.txId)
  lane.gaps.push(GAP)
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
  const { effects } = decide(
    state,
    {
      type: 'head',
      chainId: CHAIN_ID,
      blockNumber: 9,
      chainNonce: GAP,
      fees,
      gasPriceWei: 1n,
      finalBlock: null,
      nowMs: START_MS,
    },
    null,
  )
  const signing = effects.find((effect) => effect.type === 'sign')
  if (signing?.type !== 'sign') throw new Error('the gap is not being closed')
  expect(signing.nonce).toBe(GAP)
  return signing.draft.txId
}

test('one block that opens the same gap in many wallets gives each filling an id of its own', () => {
  const wallets = Array.from(
    { length: 50 },
    (_, n) => `sw_${String(n).padStart(26, '0')}` as SubWalletId,
  )
  expect(new Set(wallets.map(idOfFilling)).size).toBe(wallets.length)
})
