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
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const GAP = 4

/** A block comes to a wallet whose only transaction has so many free nonces below it. */
function headOver(subWalletId: SubWalletId, hole: number) {
  const state = emptyState(subWalletId)
  state.wallet = { ...wallet, subWalletId }
  state.keys.set(KEY_ID, apiKey({ subWalletId }))
  const above = transaction(1, { subWalletId, nonce: GAP + hole, attempts: [ATTEMPT] })
  state.open.set(above.txId, restoredEntry(above, 'sent'))
  const lane = laneOf(state, CHAIN_ID)
  lane.nextNonce = GAP + hole + 1
  lane.flight.push(above.txId)
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
  return { lane, signing: effects.find((effect) => effect.type === 'sign') }
}

/** The id of what closes the gap below a wallet's only transaction. */
function idOfFilling(subWalletId: SubWalletId): TxId {
  const { signing } = headOver(subWalletId, 1)
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

test.each([65, 2 ** 50])(
  'a hole of %i nonces is no hole: none of it is filled, nor all of it listed',
  (hole) => {
    const { lane, signing } = headOver(WALLET_ID, hole)
    expect(signing).toBeUndefined()
    expect(lane.gaps).toEqual(Array.from({ length: 64 }, (_, n) => GAP + n))
  },
)

test('a hole as wide as four windows is closed', () => {
  expect(headOver(WALLET_ID, 64).signing).toMatchObject({ nonce: GAP })
})
