import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../src/domain/audit.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { EventId } from '../../src/domain/ids.js'
import type { PredictedOutcome } from '../../src/domain/predicted-outcome.js'
import type { Transaction } from '../../src/domain/transaction.js'
import type { SubWalletHeader } from '../../src/domain/wallet.js'
import { NO_TALLY, watch } from '../../src/policy/breakers.js'
import { addToLedger, NO_POLICY_LEDGER, type PolicyLedger } from '../../src/policy/policy-ledger.js'
import { allowedAuditId } from '../../src/store/allowed-entry.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import { encodeVerdict } from '../../src/store/encodings/audit.js'
import { bareRecord, unpacked } from '../../src/store/encodings/sealing.js'
import type { Environment } from '../../src/store/environment.js'
import { localCommits } from '../../src/store/local-commits.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { WrittenBodies } from '../../src/store/written-bodies.js'
import { policyOf } from '../policy/random-policies.js'
import { openRealStore, type RealStore } from './real-store.js'
import {
  ATTEMPT,
  LINEAGE_ID,
  START_MS,
  transaction,
  txIdOf,
  USER_ID,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const HEADER: SubWalletHeader = {
  wallet,
  lanes: [{ chainId: 8453, nextNonce: 3 }],
  spend: [
    {
      lineageId: LINEAGE_ID,
      counters: { day: 1, dayMicros: 2n, month: 3, monthMicros: 2n ** 80n, reservedMicros: 0n },
    },
  ],
  open: [],
}
const MINED: Transaction['mined'] = {
  txHash: '0x01',
  blockNumber: 9,
  blockHash: '0x09',
  outcome: 'reverted',
  feeWei: 21_000n,
  executed: {
    ...{ router: '0x11', tokenIn: '0x22', amountIn: 2n ** 200n, fee: 3n },
    ...{ tokenOut: '0x33', amountOut: 4n },
  },
}
const CEILINGS = [{ chain_id: 8453, token: 'native', per: 'day', amount: '1' }]
const BREAKERS = [{ kind: 'refusals', count: 9, factor: null, perSeconds: 60 }] as const
const LISTS = [{ list: 'ofac', version: '7', checked_at: '2026-01-01T00:00:00.000Z' }]

const PREDICTED: PredictedOutcome = {
  ...{ basis: 'run', leftOut: 3, gasUsed: 90_000n },
  moves: [
    {
      ...{ way: 'out', token: '0xaa', tokenId: null, amount: 2n ** 200n, atLeast: false },
      ...{ party: '0xbb', valueMicros: null },
    },
    {
      ...{ way: 'in', token: null, tokenId: 7n, amount: 1n, atLeast: true },
      ...{ party: '0xcc', valueMicros: 5n },
    },
  ],
  approvals: [
    { token: '0xdd', tokenId: null, spender: '0xee', amount: 'all', valueMicros: null },
    { token: '0xdd', tokenId: 1n, spender: '0xee', amount: 9n, valueMicros: 1n },
  ],
  prices: [{ token: null, value: 3_000n * 10n ** 18n, decimals: 18 }],
}

function event(said: Partial<NewEvent> = {}): NewEvent {
  return {
    eventId: null,
    userId: USER_ID,
    type: 'limit.reached',
    atMs: START_MS,
    subWalletId: WALLET_ID,
    laneKey: null,
    data: { percent: 80 },
    ...said,
  }
}

describe('what the store holds', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  test('comes back as it was put, with each of its parts', async () => {
    const cancelled = { ...ATTEMPT, txHash: '0x05', cancels: true } as const
    const error = { code: 'CHAIN_REJECTED', message: 'no' }
    const headers: SubWalletHeader[] = [
      HEADER,
      { ...HEADER, lanes: [], spend: [] },
      {
        ...HEADER,
        sponsored: { intentNonces: [{ chainId: 1, next: 2 }], gas: { day: 5, micros: 6n } },
        limitNotices: [
          { lineageId: LINEAGE_ID, period: 'daily', window: 1, limitMicros: 9n, percent: 80 },
        ],
        open: [txIdOf(1), txIdOf(2)],
      },
    ]
    for (const header of headers) {
      await store.write((writer) => writer.addSubWallet(header))
      expect(store.reader.wallets.header(WALLET_ID)).toEqual(header)
    }
    for (const header of headers) {
      await store.write((writer) => writer.putSubWalletMarks(header))
      expect(store.reader.wallets.header(WALLET_ID)).toEqual(header)
      expect(store.reader.wallets.byId(WALLET_ID)).toEqual(wallet)
    }
    const tx = transaction(1, {
      attempts: [ATTEMPT, cancelled],
      mined: MINED,
      error,
      confirmedAtMs: START_MS,
      predictedMicros: 5n,
      beyondMicros: 2n ** 80n,
    })
    await store.write((writer) => writer.putTransaction(tx))
    expect(store.reader.transactions.byId(tx.txId)).toStrictEqual(tx)
    const foreign = transaction(2, { lineageId: 'key_1' as Transaction['lineageId'], mined: MINED })
    await store.write((writer) => writer.putTransaction(foreign))
    expect(store.reader.transactions.byId(foreign.txId)).toStrictEqual(foreign)
    const { executed: _, ...plain } = MINED
    const still = transaction(3, { mined: { ...plain, isStill: true } })
    await store.write((writer) => writer.putTransaction(still))
    expect(store.reader.transactions.byId(still.txId)).toStrictEqual(still)
  })

  test('comes back of what policies counted, whatever is closed of its times', async () => {
    const [times, ceilings] = [
      [60, 3_600],
      policyOf({ default: 'allow', ceilings: CEILINGS }).ceilings,
    ]
    const taken = ceilings.map(({ chainId, token }) => ({ chainId, token, amount: 2n ** 70n }))
    const tally = watch(BREAKERS, NO_TALLY, { type: 'refused', atMs: START_MS }).tally
    let ledger: PolicyLedger = NO_POLICY_LEDGER
    let before = ledger
    for (const [at, seconds] of [0, 0.5, 30, 61, 90, 3_000, 3_050, 90_000].entries()) {
      const atMs = START_MS + seconds * 1_000
      ledger = addToLedger(ledger, { atMs, micros: BigInt(at) ** 40n, taken }, times, ceilings)
      const both = at % 2 === 0 ? ledger : { ...ledger, breakers: tally }
      await store.write((writer) => writer.putPolicyLedger(WALLET_ID, LINEAGE_ID, both, before))
      before = both
      expect([...store.reader.keys.policyLedgersOf(WALLET_ID)]).toStrictEqual([[LINEAGE_ID, both]])
    }
    expect(tally).toHaveLength(1)
  })

  test('puts of a transaction that changes its state, and the whole where that is not enough', async () => {
    const { spaces } = store.environment
    const held = (id: string) => spaces.transactions.get(id)
    const put = async (tx: Transaction, environment = store.environment) => {
      const batch = new WriteBatch()
      batch.putTransaction(tx)
      await localCommits(environment, store.sequence).commit(batch)
      store.reader.fresh()
      expect(store.reader.transactions.byId(tx.txId)).toStrictEqual(tx)
      expect([...store.reader.transactions.from('')]).toStrictEqual([tx])
    }
    const signed = transaction(1)
    await store.write((writer) => writer.addTransaction(signed, null))
    const whole = held(signed.txId)
    expect(spaces.transactionStates.get(signed.txId)).toBeUndefined()
    const broadcast = { ...signed, status: 'broadcast', updatedAtMs: START_MS + 1 } as const
    await put(broadcast)
    expect(held(signed.txId)).toEqual(whole)
    // A fee bump is more than its state.
    const bumped = { ...broadcast, attempts: [ATTEMPT, { ...ATTEMPT, txHash: '0x07' as const }] }
    await put(bumped)
    expect(held(signed.txId)).not.toEqual(whole)
    const ofBump = held(signed.txId)
    await put({ ...bumped, mined: { ...MINED, txHash: '0x07' } })
    await put({ ...bumped, mined: null })
    expect(held(signed.txId)).toEqual(ofBump)
    // As after a start: what this thread has not put itself it puts whole, over an older state.
    const started = { ...store.environment, writtenBodies: new WrittenBodies() }
    await put({ ...bumped, updatedAtMs: START_MS + 2 }, started)
    await put({ ...bumped, status: 'confirmed', mined: MINED, confirmedAtMs: START_MS }, started)
    // Taken back by a reorg after it was final.
    await put(bumped, started)
  })

  test('is put again after a commit that was refused', async () => {
    const refuse = () => Promise.reject(new Error('disk full'))
    const broken = { ...store.environment, root: { batch: refuse } } as unknown as Environment
    const batch = new WriteBatch()
    const tx = transaction(1)
    batch.addTransaction(tx, null)
    await expect(localCommits(broken, store.sequence).commit(batch)).rejects.toThrow('disk full')
    await store.write((writer) => writer.putTransaction(tx))
    expect(store.reader.transactions.byId(tx.txId)).toStrictEqual(tx)
  })

  test('keeps the lists of a verdict apart from the details, for each entry its own', async () => {
    const base = { userId: USER_ID, atMs: START_MS, type: 'send.allowed' as const }
    const entries = [
      auditEntry({ ...base, details: { chain_id: 1 }, lists: LISTS, txId: txIdOf(1) }),
      auditEntry({ ...base, details: {}, lists: [] }),
      auditEntry({ ...base, details: { name: 'x' }, requestId: 'r' }),
      auditEntry({ ...base, details: { chain_id: 2 }, lists: LISTS }),
    ].map((entry, n) => ({ ...entry, auditId: allowedAuditId(txIdOf(n + 1)) }))
    await store.write((writer) => {
      for (const entry of entries) writer.appendAudit(entry)
    })
    const page = store.reader.audit.ofUser(USER_ID, { limit: 9, cursor: null }, () => true)
    const byId = new Map(page.items.map((entry) => [entry.auditId, entry]))
    expect(entries.map(({ auditId }) => byId.get(auditId))).toStrictEqual(entries)
  })

  test('shows what was allowed among the other entries of the trail, and pages through both', async () => {
    const base = { userId: USER_ID, atMs: START_MS, details: {} }
    const verdict = { atMs: START_MS, reservedMicros: 1_500_000n, lists: LISTS }
    await store.write((writer) => {
      for (const n of [1, 3, 4, 7]) writer.addTransaction(transaction(n), verdict)
      writer.addTransaction(transaction(8), null)
      for (const n of [2, 5, 6]) {
        const auditId = allowedAuditId(txIdOf(n))
        writer.appendAudit({ ...auditEntry({ ...base, type: 'send.refused' }), auditId })
      }
    })
    for (const limit of [1, 2, 3, 7, 9]) {
      const seen: AuditRecord[] = []
      let cursor: string | null = null
      do {
        const page = store.reader.audit.ofUser(USER_ID, { limit, cursor }, () => true)
        seen.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(seen.map(({ auditId }) => auditId)).toEqual(
        [7, 6, 5, 4, 3, 2, 1].map((n) => allowedAuditId(txIdOf(n))),
      )
      const { subWalletId, keyId, requestId, call, kind } = transaction(7)
      expect(seen[0]).toStrictEqual({
        ...{ auditId: allowedAuditId(txIdOf(7)), userId: USER_ID, atMs: START_MS },
        ...{ type: 'send.allowed', subWalletId, keyId, requestId, txId: txIdOf(7) },
        details: { chain_id: call.chainId, kind, reserved_usd: '1.50' },
        lists: LISTS,
        predicted: null,
      })
      expect(seen.map(({ type }) => type === 'send.allowed')).toEqual([
        ...[true, false, false, true, true, false, true],
      ])
    }
  })

  test('keeps with a verdict, and with a refusal, what was predicted of the call', async () => {
    const refused = auditEntry({
      ...{
        userId: USER_ID,
        atMs: START_MS,
        details: {},
        type: 'send.refused',
        predicted: PREDICTED,
      },
    })
    await store.write((writer) => {
      const verdict = { atMs: START_MS, reservedMicros: 1n, lists: LISTS }
      writer.addTransaction(transaction(1), { ...verdict, predicted: PREDICTED })
      writer.addTransaction(transaction(2), verdict)
      writer.appendAudit(refused)
    })
    const { audit } = store.reader
    expect(audit.allowed(USER_ID, txIdOf(1))).toMatchObject({ lists: LISTS, predicted: PREDICTED })
    expect(audit.allowed(USER_ID, txIdOf(2))?.predicted).toBeNull()
    const [entry] = [...audit.between(USER_ID, START_MS, START_MS)]
    expect(entry).toMatchObject({ type: 'send.refused', predicted: PREDICTED })
  })

  test('stores the verdict on a plain send as before there was anything to predict', () => {
    const verdict = { atMs: START_MS, reservedMicros: 1_500_000n, lists: LISTS }
    const stored = unpacked(bareRecord(encodeVerdict(verdict)) as Uint8Array)
    expect(stored).toEqual([
      [START_MS, 1_500_000n],
      LISTS.map(({ list, version, checked_at }) => [list, version, checked_at]),
    ])
  })

  test('gives back what a page that ends early has read with', async () => {
    const at = { userId: USER_ID, atMs: START_MS, details: {}, type: 'send.refused' } as const
    // More than LMDB has readers, of which each unfinished cursor would keep one.
    for (let n = 1; n <= 150; n++) {
      await store.write((writer) => {
        writer.addTransaction(transaction(n), null)
        writer.appendAudit(auditEntry(at))
      })
      const page = store.reader.audit.ofUser(USER_ID, { limit: 1, cursor: null }, () => true)
      expect(page.items).toHaveLength(1)
    }
    const readers = String(store.environment.root.readerList()).trim().split('\n')
    expect(readers.length).toBeLessThan(10)
  })

  test('finds an event by the id that the log gave it, and by one it came with', async () => {
    const given = 'evt_0000000000G000000000000000' as EventId
    const { txId, nonce, status, spentMicros, error, updatedAtMs, confirmedAtMs } = transaction(1)
    const kept = { nonce, status, spentMicros, error, updatedAtMs, confirmedAtMs }
    const moment = { txId, attemptCount: 1, mined: MINED, ...kept }
    await store.write((writer) => {
      writer.appendEvent(event())
      writer.appendEvent(event({ eventId: given }))
      writer.appendEvent(event({ data: null, moment }))
    })
    const [first, second, third] = store.reader.events.ofUser(USER_ID, 0, 3)
    expect(first).toMatchObject({ seq: 1, data: { percent: 80 } })
    expect(first).not.toHaveProperty('moment')
    expect(second).toMatchObject({ seq: 2, eventId: given })
    expect(third).toMatchObject({ seq: 3, data: null, moment })
    const ids = [first, second, third].map((one) => one?.eventId as EventId)
    expect(ids.map((id) => store.reader.events.byId(USER_ID, id)?.seq)).toEqual([1, 2, 3])
    // The log's own are in its order, also within a millisecond, and need no index.
    expect((first?.eventId ?? '') < (third?.eventId ?? '')).toBe(true)
    expect([...store.environment.spaces.eventsById.getKeys({})]).toEqual([given])
    // An id that names another's place is nobody's.
    const forged = `${ids[0]?.slice(0, -1)}${ids[0]?.endsWith('0') ? '1' : '0'}` as EventId
    expect(store.reader.events.byId(USER_ID, forged)).toBeUndefined()
    expect(store.reader.events.byId(USER_ID, 'evt_none' as EventId)).toBeUndefined()
  })
})
