import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Address,
  type Hex,
  ID_PREFIX,
  type KeyId,
  type SubWalletId,
  type TxId,
  timeOfId,
  type UserId,
  ulidBody,
} from '../../src/domain/ids.js'
import type { Transaction, TxKind, TxStatus } from '../../src/domain/transaction.js'
import { isWanted, type TransactionFilter } from '../../src/domain/transaction-filter.js'
import { INDEXED_AFTER_MS } from '../../src/domain/transaction-indexing.js'
import { indexPass } from '../../src/store/transaction-index/index-users.js'
import { SEGMENT_SIZE_MAX } from '../../src/store/transaction-index/segment.js'
import { openRealStore, type RealStore } from './real-store.js'
import { ATTEMPT, transaction, USER_ID } from './wallet-fixtures.js'

const COUNT = 2 * SEGMENT_SIZE_MAX + 300
const KEYS = 42
const BATCH = 2_000

const NOW_MS = Date.UTC(2026, 5, 15, 12)
const FIRST_MS = NOW_MS - INDEXED_AFTER_MS - 86_400_000
const OTHER = 'user_0000000000000000000000000Z' as UserId
const CHAINS = [1, 10, 56, 137, 8453, 42161]
const KINDS: readonly TxKind[] = ['send', 'swap', 'defi_deposit']
const ENDS: readonly TxStatus[] = ['confirmed', 'confirmed', 'confirmed', 'failed', 'dropped']

let store: RealStore

function hex(n: number, bytes: number): Hex {
  return `0x${n.toString(16).padStart(bytes * 2, 'a')}`
}

function idOf(n: number): TxId {
  const entropy = Buffer.alloc(10)
  entropy.writeUInt32BE(n, 6)
  const atMs = FIRST_MS + Math.floor((n * 80_000_000) / COUNT)
  return (ID_PREFIX.tx + ulidBody(atMs, entropy)) as TxId
}

const keyOf = (n: number) => `key_${String(n % KEYS).padStart(26, '0')}` as KeyId
const walletOf = (n: number) => `sw_${String(n % (KEYS / 2)).padStart(26, '0')}` as SubWalletId

/** A few are still open, as one that waits for approval. */
function made(n: number, userId = USER_ID): Transaction {
  const isOpen = n % 997 === 5
  const payee = hex(n % 5_003, 20).slice(2)
  const hashes = n % 7 === 0 ? [hex(2 * n, 32), hex(2 * n + 1, 32)] : [hex(2 * n, 32)]
  return transaction(n, {
    ...{ txId: idOf(n), userId, keyId: keyOf(n), subWalletId: walletOf(n) },
    chainId: CHAINS[n % CHAINS.length] ?? 1,
    kind: KINDS[n % KINDS.length] ?? 'send',
    status: isOpen ? 'signed' : (ENDS[n % ENDS.length] ?? 'confirmed'),
    data: `0xa9059cbb${'0'.repeat(24)}${payee}${'1'.padStart(64, '0')}`,
    attempts: hashes.map((txHash) => ({ ...ATTEMPT, txHash })),
  })
}

function found(filter: TransactionFilter, limit = 100): readonly string[] {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page = store.reader.transactions.search(USER_ID, { limit, cursor }, filter)
    expect(page.items.length).toBeLessThanOrEqual(limit)
    for (const { txId } of page.items) ids.push(txId)
    cursor = page.nextCursor
  } while (cursor !== null && ids.length < 5_000)
  return ids
}

beforeAll(async () => {
  store = await openRealStore()
  for (let first = 0; first < COUNT; first += BATCH) {
    await store.write((writer) => {
      for (let n = first; n < Math.min(COUNT, first + BATCH); n++) {
        writer.addTransaction(made(n), null)
      }
    })
  }
  await store.write((writer) => {
    for (let n = 0; n < 50; n++) writer.addTransaction(made(COUNT + n, OTHER), null)
  })
  const steps = [...indexPass(store, NOW_MS)]
  expect(steps).toHaveLength(Math.floor(COUNT / SEGMENT_SIZE_MAX))
  store.reader.fresh()
})

afterAll(async () => {
  await store?.close()
})

const FILTERS: readonly TransactionFilter[] = [
  { keyId: keyOf(7) },
  { keyId: keyOf(7), status: 'failed' },
  { subWalletId: walletOf(4), kind: 'swap' },
  { chainId: 8453, kind: 'swap', status: 'dropped' },
  { status: 'signed' },
  { status: 'broadcast' },
  { txHash: hex(14, 32) },
  { txHash: hex(15, 32) },
  { txHash: hex(2 * 1_002, 32) },
  { address: hex(1_234, 20) },
  { address: hex(1_234, 20), chainId: 8453 },
  { keyId: 'key_none' as KeyId },
]

test('a search finds what going through everything finds, newest first', () => {
  const all = Array.from({ length: COUNT }, (_, n) => made(n)).reverse()
  for (const filter of FILTERS) {
    const wanted = all.filter((tx) => isWanted(tx, filter)).map(({ txId }) => txId)
    for (const limit of [3, 100]) {
      expect(found(filter, limit), JSON.stringify(filter)).toEqual(wanted)
    }
  }
  expect(FILTERS.filter((filter) => found(filter).length === 0)).toHaveLength(2)
})

test('is of one user alone', () => {
  expect(found({ txHash: hex(2 * (COUNT + 3), 32) })).toEqual([])
  const theirs = store.reader.transactions.search(
    OTHER,
    { limit: 9, cursor: null },
    { txHash: hex(2 * (COUNT + 3), 32) },
  )
  expect(theirs.items.map(({ txId }) => txId)).toEqual([idOf(COUNT + 3)])
})

test('finds what changed after it was indexed: ended, signed again, or reopened', async () => {
  const [open, ended] = [made(5), made(6)]
  expect([open.status, ended.status]).toEqual(['signed', 'confirmed'])
  const resigned = { ...ATTEMPT, txHash: hex(999_999_999, 32) }
  const again = { ...ATTEMPT, txHash: hex(888_888_888, 32) }
  await store.write((writer) => {
    const call = { ...open.call, to: hex(777_777_777, 20) as Address }
    const attempts = [...open.attempts, resigned]
    writer.putTransaction({ ...open, call, status: 'failed', attempts })
    writer.putTransaction({ ...ended, status: 'broadcast', attempts: [...ended.attempts, again] })
    writer.noteUnindexed(ended.userId, ended.txId)
  })
  expect(found({ status: 'failed' })).toContain(open.txId)
  expect(found({ status: 'signed' })).not.toContain(open.txId)
  expect(found({ txHash: resigned.txHash })).toEqual([open.txId])
  expect(found({ address: hex(777_777_777, 20) })).toEqual([open.txId])
  expect(found({ status: 'broadcast' })).toEqual([ended.txId])
  expect(found({ txHash: again.txHash })).toEqual([ended.txId])
  expect(found({ status: 'confirmed' })).not.toContain(ended.txId)
})

test('finds what was committed only after those behind it were indexed, in its place', async () => {
  const late = [0, 1_500].map((n) => {
    const atMs = timeOfId(idOf(n)) - 1
    const txId = (ID_PREFIX.tx + ulidBody(atMs, Buffer.alloc(10))) as TxId
    return { ...made(COUNT + 100 + n), txId, keyId: 'key_late' as KeyId }
  })
  const [first, second] = late.map(({ txId }) => txId)
  await store.write((writer) => {
    for (const tx of late) {
      writer.addTransaction(tx, null)
      writer.noteUnindexed(tx.userId, tx.txId)
    }
  })
  expect(found({ keyId: 'key_late' as KeyId }, 1)).toEqual([second, first])
  const all = found({}, 100)
  expect(all).toEqual([...all].sort().reverse())
  expect(all).toHaveLength(COUNT + 2)
  expect(all).toEqual(expect.arrayContaining([first, second]))
})
