import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeliveryRecord } from '../../actors/webhook-endpoint/core/delivery-record.js'
import type { TransactionMoment } from '../../src/domain/event.js'
import {
  type Hex,
  ID_PREFIX,
  type KeyId,
  type TxId,
  type UserId,
  ulidBody,
} from '../../src/domain/ids.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { createAccountSpend } from '../../src/operations/console/account-spend.js'
import { listAudit } from '../../src/operations/console/audit.js'
import { listRefusals } from '../../src/operations/console/refusals.js'
import { listSpend } from '../../src/operations/console/spend.js'
import { getTransaction } from '../../src/operations/console/transaction-detail.js'
import { listTransactions } from '../../src/operations/console/transactions.js'
import type { ConsoleContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import { openRealStore, type RealStore } from './real-store.js'
import { addEndpoint } from './retention-world.js'
import {
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  KEY_ID,
  LINEAGE_ID,
  transaction,
  USER_ID,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const NOW_MS = Date.UTC(2026, 5, 15, 12)
const OTHER = 'user_0000000000000000000000000Z' as UserId
const PAYEE = '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359'
const TRANSFER: Hex = `0xa9059cbb${'0'.repeat(24)}${PAYEE.slice(2)}${'1'.padStart(64, '0')}`
const OTHERS = 120

let store: RealStore
let ports: OperationPorts
let middle: Transaction

const context = (userId = USER_ID): ConsoleContext => ({
  requestId: 'r',
  userId,
  email: null,
  token: '',
  personId: USER_ID,
  role: 'owner',
  presentedKey: null,
})

function hashOf(n: number): Hex {
  return `0x${n.toString(16).padStart(64, '0')}`
}

function at(n: number): number {
  return NOW_MS - 3_600_000 + n * 1_000
}

/** As it is an hour later: signed, raised, and in a block. */
function confirmed(n: number): Transaction {
  const attempt = (at_: number, hash: Hex) => ({ ...ATTEMPT, txHash: hash, signedAtMs: at_ })
  const newest = hashOf(2 * n + 1)
  return transaction(n, {
    txId: `${ID_PREFIX.tx}${ulidBody(at(n), randomBytes(10))}` as TxId,
    attempts: [attempt(at(n) + 10, hashOf(2 * n)), attempt(at(n) + 400, newest)],
    data: n % 2 === 0 ? TRANSFER : '0x',
    kind: n % 3 === 0 ? 'swap' : 'send',
    value: 1n,
    status: 'confirmed',
    mined: {
      ...{ txHash: newest, blockNumber: 100 + n, blockHash: hashOf(9), outcome: 'success' },
      feeWei: 21_000n,
    },
    createdAtMs: at(n),
    updatedAtMs: at(n) + 900,
    confirmedAtMs: at(n) + 900,
  })
}

function momentOf(tx: Transaction, status: 'broadcast' | 'confirmed'): TransactionMoment {
  const { txId, nonce, spentMicros, mined, error, updatedAtMs, confirmedAtMs } = tx
  const told = { txId, nonce, spentMicros, error, updatedAtMs, attemptCount: 2 }
  return status === 'confirmed'
    ? { ...told, status, mined, confirmedAtMs }
    : { ...told, status, mined: null, confirmedAtMs: null }
}

beforeAll(async () => {
  store = await openRealStore()
  const readableSeq = (user: UserId) => store.sequence.readable(user)
  ports = {
    reader: store.reader,
    chains: new Map(),
    recordedApproval: () => null,
    headOf: () => 500,
    readableSeq,
    nowMs: () => NOW_MS,
  } as unknown as OperationPorts
  const all = Array.from({ length: OTHERS }, (_, n) => confirmed(n + 1))
  middle = all[59] ?? confirmed(0)
  await store.write((writer) => {
    const counters = { day: Math.floor(NOW_MS / 86_400_000), month: 2026 * 12 + 5 }
    const used = { dayMicros: 3_000_000n, monthMicros: 7_500_000n, reservedMicros: 1_000_000n }
    const spend = [{ lineageId: LINEAGE_ID, counters: { ...counters, ...used } }]
    writer.addSubWallet({ wallet, lanes: [], spend, open: [] })
    writer.putApiKey(apiKey())
  })
  for (const tx of all) {
    const lists = [{ list: 'ofac', version: '7', checked_at: '2026-06-15T11:00:00.000Z' }]
    await store.write((writer) => {
      writer.addTransaction(tx, { atMs: tx.createdAtMs, reservedMicros: 1n, lists })
      const said = { userId: USER_ID, subWalletId: WALLET_ID, laneKey: null, data: null }
      const { createdAtMs, updatedAtMs } = tx
      const event = { ...said, eventId: null }
      writer.appendEvent({
        ...{ ...event, type: 'transaction.broadcast', atMs: createdAtMs + 20 },
        moment: momentOf(tx, 'broadcast'),
      })
      writer.appendEvent({
        ...{ ...event, type: 'transaction.confirmed', atMs: updatedAtMs },
        moment: momentOf(tx, 'confirmed'),
      })
    })
  }
})

afterAll(async () => {
  await store?.close()
})

test('one transaction is shown with its timeline, verdict, events and deliveries, among many', async () => {
  const webhookId = await addEndpoint(store, {})
  const [, event] = [...store.reader.events.ofUser(USER_ID, 0, Number.MAX_SAFE_INTEGER)].filter(
    ({ moment }) => moment?.txId === middle.txId,
  )
  if (event === undefined) throw new Error('no event')
  const delivery: DeliveryRecord = {
    ...{ eventId: event.eventId, seq: event.seq, status: 'delivered', attemptCount: 1 },
    attempts: [{ atMs: NOW_MS, status: 200, error: null, durationMs: 3 }],
    ...{ nextTryAtMs: null, createdAtMs: NOW_MS, updatedAtMs: NOW_MS },
  }
  await store.write((writer) => writer.putDeliveryRecord(webhookId, event.eventId, delivery))
  const answer = await getTransaction(ports)(context(), { tx_id: middle.txId })
  if (!answer.ok) throw new Error(answer.fault.code)
  const [first, newest] = middle.attempts.map(({ txHash }) => txHash)
  expect(answer.value).toMatchObject({
    ...{ tx_id: middle.txId, tx_hash: newest, replaced_hashes: [first] },
    screened_against: [{ list: 'ofac', version: '7' }],
    attempts: [{ tx_hash: first }, { tx_hash: newest }],
    audit: [{ type: 'send.allowed', tx_id: middle.txId }],
    events: [
      { type: 'transaction.broadcast', deliveries: [] },
      {
        type: 'transaction.confirmed',
        deliveries: [{ webhook_id: webhookId, status: 'delivered', attempts: [{ status: 200 }] }],
      },
    ],
  })
  expect(answer.value.timeline.map(({ step }) => step)).toEqual([
    ...['decided', 'signed', 'broadcast', 'replaced', 'mined', 'confirmed'],
  ])
  const theirs = await getTransaction(ports)(context(OTHER), { tx_id: middle.txId })
  expect(theirs).toMatchObject({ ok: false, fault: { code: 'NOT_FOUND' } })
})

test('transactions are found by id, by any hash, by an address in the calldata, and by kind', async () => {
  const list = listTransactions(ports)
  const found = async (input: object, userId = USER_ID) => {
    const answer = await list(context(userId), { limit: 100, ...input })
    if (!answer.ok) throw new Error(answer.fault.code)
    return answer.value.transactions.map(({ tx_id }) => tx_id)
  }
  const { txId, attempts } = middle
  expect(await found({ search: txId })).toEqual([txId])
  expect(await found({ search: txId }, OTHER)).toEqual([])
  expect(await found({ search: txId, status: 'failed' })).toEqual([])
  for (const { txHash } of attempts) expect(await found({ search: txHash })).toEqual([txId])
  expect(await found({ search: attempts[0]?.txHash }, OTHER)).toEqual([])
  expect(await found({ search: PAYEE })).toHaveLength(OTHERS / 2)
  expect(await found({ search: PAYEE, kind: 'swap' })).toHaveLength(OTHERS / 6)
  expect(await found({ kind: 'swap', chain_id: CHAIN_ID })).toHaveLength(OTHERS / 3)
  expect(await found({ search: hashOf(0) })).toEqual([])
})

test('refusals are counted by reason, the folded ones each, and within the time asked for', async () => {
  const other = 'key_00000000000000000000000009' as KeyId
  const refused = (hoursAgo: number, code: string, said: object = {}, keyId = KEY_ID) =>
    auditEntry({
      ...{ userId: USER_ID, type: 'send.refused', keyId, subWalletId: WALLET_ID },
      atMs: NOW_MS - hoursAgo * 3_600_000,
      details: { code, ...said },
    })
  await store.write((writer) => {
    writer.appendAudit(refused(1, 'LIMIT_EXCEEDED', { repeated: 40 }))
    writer.appendAudit(refused(2, 'LIMIT_EXCEEDED'))
    writer.appendAudit(refused(3, 'ADDRESS_BLOCKED', {}, other))
    writer.appendAudit(refused(30, 'FROZEN'))
  })
  const counted = async (input: object) => listRefusals(ports)(context(), input)
  expect(await counted({})).toMatchObject({
    value: {
      total: 42,
      counted_since: '2026-06-14T12:00:00.000Z',
      reasons: [
        { code: 'LIMIT_EXCEEDED', count: 41, last_at: '2026-06-15T11:00:00.000Z' },
        { code: 'ADDRESS_BLOCKED', count: 1 },
      ],
    },
  })
  expect(await counted({ hours: 48 })).toMatchObject({ value: { total: 43 } })
  expect(await counted({ key_id: other })).toMatchObject({ value: { total: 1 } })
})

test('a refused send is found in the trail by its tx_id, with the reason in words', async () => {
  const txId = `${ID_PREFIX.tx}${ulidBody(NOW_MS - 500, randomBytes(10))}` as TxId
  const reasons = { period: 'daily', limit_usd: '5', used_usd: '4', requested_usd: '2' }
  const entry = auditEntry({
    ...{ userId: USER_ID, type: 'send.refused', txId, atMs: NOW_MS },
    details: { code: 'LIMIT_EXCEEDED', reasons },
  })
  await store.write((writer) => writer.appendAudit(entry))
  const found = await listAudit(ports)(context(), { tx_id: txId })
  expect(found).toMatchObject({ value: { records: [{ tx_id: txId, type: 'send.refused' }] } })
  expect(JSON.stringify(found)).toContain('$4 of the daily $5 was used, and the call asked for $2.')
  expect(await listAudit(ports)(context(OTHER), { tx_id: txId })).toMatchObject({
    value: { records: [] },
  })
  const sent = await listAudit(ports)(context(), { tx_id: middle.txId })
  expect(sent).toMatchObject({ value: { records: [{ type: 'send.allowed' }] } })
})

test('spend is shown by key, with what is reserved, and begins again with a day and a month', async () => {
  const accountSpend = createAccountSpend(ports)
  const spend = async (nowMs: number) => {
    const answer = await listSpend({ ...ports, accountSpend, nowMs: () => nowMs })(context(), {})
    if (!answer.ok) throw new Error(answer.fault.code)
    return answer.value.keys[0]
  }
  const used = { daily_used_usd: '3.00', monthly_used_usd: '7.50', reserved_usd: '1.00' }
  expect(await spend(NOW_MS)).toMatchObject({ key_id: KEY_ID, daily_limit_usd: '0.001', ...used })
  const tomorrow = NOW_MS + 86_400_000
  expect(await spend(tomorrow)).toMatchObject({ ...used, daily_used_usd: '0.00' })
  expect(await spend(Date.UTC(2026, 6, 1))).toMatchObject({ monthly_used_usd: '0.00' })
  const theirs = await listSpend({ ...ports, accountSpend })(context(OTHER), { key_id: KEY_ID })
  expect(theirs).toMatchObject({ ok: false, fault: { code: 'NOT_FOUND' } })
})
