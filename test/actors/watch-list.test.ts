import { expect, test } from 'vitest'
import { WatchList } from '../../actors/chain-watcher/core/watch-list.js'
import { packer } from '../../actors/chain-watcher/packer.js'
import type { Address, Hex, SubWalletId, TxId } from '../../src/domain/ids.js'

const OWNER = 'sw_1' as SubWalletId
const FROM = '0x00000000000000000000000000000000000000aa' as Address
const place = (blockNumber: number, blockHash: Hex) => ({ blockNumber, blockHash })

function watching(txId: string, hashes: readonly Hex[]) {
  const ids = { txId: txId as TxId, owner: OWNER, from: FROM, nonce: 7 }
  return { ...ids, hashes, mined: null, pendingNotice: null, checked: true, sinceBlock: 3 }
}

/** Two settled in one block, one in another block of the same height, and one that is open. */
function listed(): WatchList {
  const list = new WatchList(packer)
  const settled = { a: place(10, '0xaa'), b: place(10, '0xaa'), c: place(10, '0xcc') }
  for (const [name, at] of Object.entries(settled)) {
    const watched = watching(name, [`0x${name}1`, `0x${name}2`])
    list.put(watched)
    list.settle(watched, at)
  }
  list.put(watching('open', ['0x01']))
  return list
}

const idsOf = (found: Iterable<{ readonly txId: TxId }>) =>
  [...found].map(({ txId }) => txId).sort()

test('what is settled is no longer looked at', () => {
  const list = listed()
  expect(idsOf(list.open())).toEqual(['open'])
  expect(list.openCount).toBe(1)
  expect(list.withHash('0xa1')).toEqual([])
})

test('a reorg finds what is settled at its heights, with all hashes, and nothing twice', () => {
  const list = listed()
  expect(list.minedWithin(11, 20)).toEqual([])
  const found = list.minedWithin(9, 10)
  expect(idsOf(found)).toEqual(['a', 'b', 'c'])
  const { mined, hashes, nonce, from, owner, checked } = list.withHash('0xa2')[0] ?? {}
  expect({ mined, hashes, nonce, from, owner, checked }).toEqual({
    mined: place(10, '0xaa'),
    hashes: ['0xa1', '0xa2'],
    nonce: 7,
    from: FROM,
    owner: OWNER,
    checked: false,
  })
  expect(list.openCount).toBe(4)
  expect(idsOf(list.minedWithin(9, 10))).toEqual(['a', 'b', 'c'])
})

test('a chain that starts over from the beginning is taken back at once', () => {
  const list = listed()
  expect(idsOf(list.minedWithin(0, Number.MAX_SAFE_INTEGER))).toEqual(['a', 'b', 'c'])
})

test('a block finds what is settled in another of its height, and leaves its own settled', () => {
  const list = listed()
  expect(idsOf(list.minedInOther(10, '0xaa'))).toEqual(['c'])
  expect(list.withHash('0xa1')).toEqual([])
  expect(list.minedInOther(10, '0xcc').map(({ mined }) => mined?.blockHash)).toEqual([
    '0xaa',
    '0xaa',
  ])
})

test('what is too old for any reorg is forgotten', () => {
  const list = listed()
  const old = watching('old', ['0x02'])
  list.put(old)
  list.settle(old, place(9, '0x99'))
  list.noteEarlier(place(8, '0x88'))
  expect([...list.minedHeights()].sort()).toEqual([10, 8, 9])
  list.forgetSettledBelow(10)
  expect([...list.minedHeights()]).toEqual([10])
  expect(list.takeEarlier(0, 10, null)).toEqual([])
  expect(idsOf(list.minedWithin(0, 10))).toEqual(['a', 'b', 'c'])
})

test('places of an earlier life are taken once, but for the block that is still there', () => {
  const list = listed()
  for (const at of [place(7, '0x77'), place(8, '0x88'), place(8, '0x8f')]) list.noteEarlier(at)
  expect(list.takeEarlier(8, 8, '0x88')).toEqual([place(8, '0x8f')])
  expect(list.takeEarlier(0, 20, null)).toEqual([place(7, '0x77'), place(8, '0x88')])
  expect(list.takeEarlier(0, 20, null)).toEqual([])
})

test('of a full block everything comes back, however many wallets and hashes it has', () => {
  const list = new WatchList(packer)
  const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Hex
  const all = Array.from({ length: 1_000 }, (_, n) => ({
    ...watching(`tx_${n}`, n % 7 === 0 ? [hash(n), hash(n + 100_000)] : [hash(n)]),
    // Wallets take turns of several transactions, as their receipts come.
    owner: `sw_${Math.floor(n / 9) % 40}` as SubWalletId,
    nonce: n * 1_000_003,
  }))
  for (const [n, watched] of all.entries()) {
    list.put(watched)
    list.settle(watched, place(n < 900 ? 10 : 11, n % 100 === 99 ? '0xcc' : '0xaa'))
  }
  expect(list.openCount).toBe(0)
  expect(list.minedInOther(10, '0xaa')).toHaveLength(9)
  const { length } = all.filter((_, n) => n < 900)
  expect(list.minedWithin(10, 10)).toHaveLength(length)
  list.minedWithin(11, 11)
  for (const { txId, owner, from, nonce, hashes } of all) {
    expect(list.get(txId)).toMatchObject({ txId, owner, from, nonce, hashes, checked: false })
  }
})
