import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillHistory } from '../../bench/fill-history.js'
import { openFiller } from '../../bench/fill-store.js'
import type { TransactionFilter } from '../../src/domain/transaction-filter.js'
import { openRealStore, type RealStore } from '../actors/real-store.js'
import { apiKey, USER_ID, WALLET_ID, wallet } from '../actors/wallet-fixtures.js'

let store: RealStore
beforeEach(async () => {
  store = await openRealStore()
})
afterEach(() => store.close())

test('a store is filled with what the service reads back: wallets, past and open transactions', async () => {
  await store.write((writer) => {
    writer.addSubWallet({ wallet, lanes: [], spend: [], open: [] })
    writer.putApiKey(apiKey())
  })
  const filler = openFiller(store.directory, () => {})
  await filler.addWallets(5)
  await filler.addPast(30)
  await filler.addOpen(4)
  await filler.close()
  const { reader } = store
  reader.fresh()
  const wallets = [...reader.wallets.all()]
  expect(wallets.length).toBeGreaterThan(5)
  for (const one of wallets) {
    expect(reader.wallets.header(one.subWalletId)?.wallet).toEqual(one)
    expect([...reader.keys.ofWallet(one.subWalletId)]).toHaveLength(1)
  }
  const past = reader.transactions.ofUser(USER_ID, { limit: 100, cursor: null }, () => true).items
  expect(past).toHaveLength(30)
  expect(new Set(past.map(({ attempts }) => attempts[0]?.txHash)).size).toBe(30)
  for (const tx of past) expect(tx).toMatchObject({ subWalletId: WALLET_ID, status: 'confirmed' })
  const open = wallets.flatMap(({ subWalletId }) => [
    ...reader.transactions.openOfWallet(subWalletId),
  ])
  expect(open.length).toBeGreaterThanOrEqual(4)
})

test('a history is filled in that its searches find: by key, id, hash and address', async () => {
  await store.write((writer) => {
    writer.addSubWallet({ wallet, lanes: [], spend: [], open: [] })
    writer.putApiKey(apiKey())
  })
  const size = { keys: 5, transactions: 1_200, refusals: 10 }
  const { keyIds, subWalletIds, txIdOf, hashesOf, payeeOf } = await fillHistory(
    store.directory,
    size,
    () => {},
  )
  const { reader } = store
  reader.fresh()
  const found = (filter: TransactionFilter) =>
    reader.transactions.search(USER_ID, { limit: 500, cursor: null }, filter).items
  expect(found({ keyId: keyIds[3] })).toHaveLength(1_200 / 5)
  expect(found({ subWalletId: subWalletIds[3], status: 'dropped' })).toHaveLength(0)
  expect(found({ address: payeeOf(14) }).map(({ txId }) => txId)).toEqual([txIdOf(14)])
  for (const txHash of hashesOf(14)) {
    expect(found({ txHash }).map(({ txId }) => txId)).toEqual([txIdOf(14)])
  }
  const refused = [...reader.audit.between(USER_ID, 0, Date.now() + 60_000)]
  expect(refused.filter(({ type }) => type === 'send.refused')).toHaveLength(10)
})
