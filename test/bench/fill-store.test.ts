import { afterEach, beforeEach, expect, test } from 'vitest'
import { openFiller } from '../../bench/fill-store.js'
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
