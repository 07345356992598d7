import { afterEach, beforeEach, expect, test } from 'vitest'
import { evolve } from '../../actors/sub-wallet/core/evolve.js'
import type { Event } from '../../actors/sub-wallet/core/messages.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { TxId } from '../../src/domain/ids.js'
import { OPEN_LISTED_MAX } from '../../src/domain/wallet.js'
import { openRealStore, type RealStore } from './real-store.js'
import {
  ATTEMPT,
  CHAIN_ID,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const MORE_THAN_LISTED = OPEN_LISTED_MAX + 6

let store: RealStore
beforeEach(async () => {
  store = await openRealStore()
})
afterEach(() => store.close())

const signed = (n: number): Event => ({
  type: 'transaction-signed',
  tx: transaction(n, { attempts: [ATTEMPT] }),
  idempotency: null,
  screenedAgainst: [],
  basis: null,
})
const ended = (n: number): Event => ({
  type: 'transaction-ended',
  txId: txIdOf(n),
  status: 'confirmed',
  spentMicros: 1n,
  error: null,
  nonceFreed: false,
  givenUpAt: null,
  atMs: START_MS,
})

test('a start finds every open transaction, also those beyond what the wallet lists', async () => {
  await store.write((writer) => {
    writer.addSubWallet({ wallet, lanes: [], spend: [], open: [] })
  })
  const state = loadState(store.reader, WALLET_ID)
  const open = new Set<TxId>()
  const step = async (event: Event) => {
    await store.write((writer) => recordEvents(writer, evolve(state, event), [event]))
    const found = loadState(store.reader, WALLET_ID)
    expect(new Set(found.open.keys())).toEqual(open)
    expect(found.openInline).toEqual(state.openInline)
    const ofChain = [...store.reader.transactions.openOfChain(CHAIN_ID)].map(({ txId }) => txId)
    expect(new Set(ofChain)).toEqual(open)
    expect(ofChain).toHaveLength(open.size)
  }
  for (let n = 1; n <= MORE_THAN_LISTED; n++) {
    open.add(txIdOf(n))
    await step(signed(n))
  }
  expect(state.openInline.size).toBe(OPEN_LISTED_MAX)
  // One that is listed, one that is indexed, and a new one that takes the place of the first.
  for (const n of [3, MORE_THAN_LISTED]) {
    open.delete(txIdOf(n))
    await step(ended(n))
  }
  open.add(txIdOf(MORE_THAN_LISTED + 1))
  await step(signed(MORE_THAN_LISTED + 1))
  expect(state.openInline.has(txIdOf(MORE_THAN_LISTED + 1))).toBe(true)
  for (const id of [...open]) {
    open.delete(id)
    await step(ended(Number(id.slice('tx_'.length))))
  }
  expect([...store.environment.spaces.openByWallet.getKeys({})]).toEqual([])
})
