import { type Address, type Hex, ID_PREFIX, type TxId, ulidBody } from '../src/domain/ids.js'
import { utcDay, utcMonth } from '../src/domain/spend.js'
import { SPENT_DAYS_MAX } from '../src/domain/spent-days.js'
import type { Transaction, TxKind, TxStatus } from '../src/domain/transaction.js'
import { auditEntry } from '../src/store/audit-entry.js'
import { openEnvironment } from '../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../src/store/event-sequence.js'
import { localCommits } from '../src/store/local-commits.js'
import { createReader } from '../src/store/reader.js'
import { indexPass } from '../src/store/transaction-index/index-users.js'
import { WriteBatch } from '../src/store/write-batch.js'
import { newOwnerOf, type Owner, pastSend, realOwners } from './fill-store.js'

/**
 * Years of one user's history: keys, transactions of all kinds and refusals, written with the
 * store's own codecs while no service runs, and indexed as its retention does.
 */
export interface History {
  readonly keyIds: readonly string[]
  readonly subWalletIds: readonly string[]
  /** The id of the transaction with that number, counted from the oldest. */
  txIdOf(number: number): TxId
  /** The hashes of its attempts; every seventh was replaced once. */
  hashesOf(number: number): readonly Hex[]
  payeeOf(number: number): Address
}

export interface HistorySize {
  readonly keys: number
  readonly transactions: number
  readonly refusals: number
}

/** As large as a service's own commits become. */
const BATCH = 500
const YEAR_MS = 365 * 86_400_000
const MONTH_MS = 30 * 86_400_000
const PAYEES = 5_003
const CHAINS = [1, 10, 56, 137, 8453, 42161]
const KINDS: readonly TxKind[] = ['send', 'swap', 'send', 'defi_deposit']
const ENDS: readonly TxStatus[] = ['confirmed', 'confirmed', 'confirmed', 'failed', 'dropped']
const REFUSALS = ['SPENDING_LIMIT_EXCEEDED', 'POLICY_DENIED', 'ADDRESS_BLOCKED']

/** @param progress called after every commit with the number written */
export async function fillHistory(
  storeDirectory: string,
  { keys, transactions, refusals }: HistorySize,
  progress: (what: string, written: number, of: number) => void,
): Promise<History> {
  const environment = openEnvironment(storeDirectory)
  const reader = createReader(environment)
  const lastSeqs = createEventSequenceBuffer(reader.events.lastSeqs())
  const commits = localCommits(
    environment,
    attachEventSequence(lastSeqs, () => true),
  )
  const nowMs = Date.now()
  const [real] = realOwners(reader)
  if (real === undefined) throw new Error('the store has no user with a key')
  const { userId } = real.wallet

  async function inBatches(what: string, count: number, put: (to: WriteBatch, n: number) => void) {
    for (let from = 0; from < count; from += BATCH) {
      const batch = new WriteBatch()
      for (let n = from; n < Math.min(count, from + BATCH); n++) put(batch, n)
      await commits.commit(batch)
      progress(what, Math.min(count, from + BATCH), count)
    }
  }

  const owners = Array.from({ length: keys }, (_, n) =>
    newOwnerOf(userId, `agent ${n}`, nowMs - YEAR_MS - n),
  )
  const { counters, days } = monthOfSpend(nowMs)
  const ownerOf = (n: number): Owner => owners[n % owners.length] ?? real
  await inBatches('keys', keys, (batch, n) => {
    const { wallet, key } = ownerOf(n)
    const { lineageId } = key
    batch.addSubWallet({ wallet, lanes: [], spend: [{ lineageId, counters }], open: [] })
    batch.putApiKey(key)
    batch.putSpentDays(wallet.subWalletId, lineageId, days)
  })
  const atMsOf = (n: number) => nowMs - YEAR_MS + Math.floor((n / transactions) * YEAR_MS)
  await inBatches('transactions', transactions, (batch, n) =>
    batch.addTransaction(pastCall(ownerOf(n), atMsOf(n), n), null),
  )
  await inBatches('refusals', refusals, (batch, n) => {
    const { key } = ownerOf(n)
    batch.appendAudit(
      auditEntry({
        ...{ userId, atMs: nowMs - MONTH_MS + Math.floor((n / refusals) * MONTH_MS) },
        ...{ type: 'send.refused', subWalletId: key.subWalletId, keyId: key.keyId },
        details: { code: REFUSALS[n % REFUSALS.length], chain_id: CHAINS[n % CHAINS.length] },
      }),
    )
  })
  let segments = 0
  for (const step of indexPass({ environment, reader }, nowMs)) {
    if (step === 'indexed') progress('segments of the index', ++segments, segments)
  }
  await environment.root.close()
  return {
    keyIds: owners.map(({ key }) => key.keyId),
    subWalletIds: owners.map(({ wallet }) => wallet.subWalletId),
    txIdOf: (n) => txIdOf(n, atMsOf(n)),
    hashesOf,
    payeeOf,
  }
}

/** Spend on every stored day. */
function monthOfSpend(nowMs: number) {
  const today = utcDay(nowMs)
  const dayMicros = 12_345_678n
  const days = Array.from({ length: SPENT_DAYS_MAX }, (_, index) => ({
    ...{ day: today - SPENT_DAYS_MAX + index, micros: dayMicros },
  }))
  const counters = { day: today, month: utcMonth(nowMs), dayMicros, monthMicros: dayMicros }
  return { counters: { ...counters, reservedMicros: 0n }, days }
}

function pastCall(owner: Owner, atMs: number, n: number): Transaction {
  const past = pastSend(owner, atMs, n)
  const status = ENDS[n % ENDS.length] ?? 'confirmed'
  const [attempt] = past.attempts
  if (attempt === undefined) throw new Error('a past send has no attempt')
  const payee = payeeOf(n).slice(2)
  return {
    ...past,
    txId: txIdOf(n, atMs),
    kind: KINDS[n % KINDS.length] ?? 'send',
    call: {
      ...past.call,
      chainId: CHAINS[n % CHAINS.length] ?? 1,
      data: `0xa9059cbb${payee.padStart(64, '0')}${'1'.padStart(64, '0')}`,
    },
    status,
    attempts: hashesOf(n).map((txHash) => ({ ...attempt, txHash })),
    mined: status === 'dropped' ? null : past.mined,
    confirmedAtMs: status === 'dropped' ? null : past.confirmedAtMs,
  }
}

function txIdOf(n: number, atMs: number): TxId {
  const entropy = Buffer.alloc(10)
  entropy.writeUInt32BE(n, 0)
  return `${ID_PREFIX.tx}${ulidBody(atMs, entropy)}` as TxId
}

function hashesOf(n: number): readonly Hex[] {
  return n % 7 === 0 ? [hashOf(2 * n), hashOf(2 * n + 1)] : [hashOf(2 * n)]
}

/** Evenly distributed like a hash, but the same for the same number. */
function hashOf(n: number): Hex {
  const word = Math.imul(n + 1, 0x9e3779b1) >>> 0
  return `0x${word.toString(16).padStart(8, '0')}${n.toString(16).padStart(56, '0')}`
}

function payeeOf(n: number): Address {
  return `0xb${(n % PAYEES).toString(16).padStart(39, '0')}`
}
