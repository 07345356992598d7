import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Actors } from '../../actors/protocols.js'
import { jsonText } from '../../src/api/json-text.js'
import { transactionView } from '../../src/api/transaction-view.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import type { SubWalletId, TxId, UserId } from '../../src/domain/ids.js'
import type { UsdMicros } from '../../src/domain/money.js'
import { NO_SPEND, utcDay } from '../../src/domain/spend.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { getLimits } from '../../src/operations/agent/get-limits.js'
import { createAnsweredSends } from '../../src/operations/answered-sends.js'
import { createConsoleHandlers } from '../../src/operations/console-handlers.js'
import type { AgentContext, ConsoleContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { createTransactionViews } from '../../src/operations/transaction-views.js'
import { attachVersions, createVersionsBuffer } from '../../src/store/versions.js'
import { openRealStore, type RealStore } from './real-store.js'
import { apiKey, START_MS, transaction, txIdOf, USER_ID, WALLET_ID } from './wallet-fixtures.js'

const OTHER_WALLET = 'sw_00000000000000000000000002' as SubWalletId
const COMMIT_TIMEOUT_MS = 30_000
const HASH = `0x${'ab'.repeat(32)}` as const

function broadcast(n: number, said: Partial<Transaction> = {}): Transaction {
  const attempt = {
    txHash: HASH,
    rawTransaction: '0x02',
    maxFeePerGas: 2n,
    maxPriorityFeePerGas: 1n,
    intentId: '0x01',
    signedAtMs: START_MS,
  } as const
  return transaction(n, { status: 'broadcast', attempts: [attempt], ...said })
}

describe('views of transactions that are kept', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  test('are what the store says now, and are made once while it says the same', async () => {
    let head: number | null = 100
    const views = createTransactionViews(store.reader, () => head)
    const mined = {
      txHash: HASH,
      blockNumber: 101,
      blockHash: HASH,
      outcome: 'success',
      feeWei: 21_000n,
    } as const
    const first = broadcast(1)
    const stages: readonly Transaction[] = [
      first,
      { ...first, spentMicros: 2n },
      { ...first, mined },
      { ...first, mined, status: 'confirmed', confirmedAtMs: START_MS + 1 },
      { ...first, error: { code: 'REPLACED', message: 'another was mined' } },
      { ...first, call: { ...first.call, data: `0x${'00'.repeat(20_000)}` } },
      first,
    ]
    for (const stage of stages) {
      await store.write((to) => to.putTransaction(stage))
      for (head of [null, 101, 101, 150]) {
        const view = views.find(stage.txId, WALLET_ID)
        expect(jsonText(view)).toBe(JSON.stringify(transactionView(stage, head)))
      }
    }
    expect(views.find(first.txId, WALLET_ID)).toBe(views.find(first.txId, WALLET_ID))
  })

  test('are shown to the wallet they belong to alone', async () => {
    const views = createTransactionViews(store.reader, () => null)
    await store.write((to) => to.putTransaction(broadcast(1)))
    expect(views.find(txIdOf(1), OTHER_WALLET)).toBeUndefined()
    expect(views.find(txIdOf(1), WALLET_ID)?.tx_id).toBe(txIdOf(1))
    expect(views.find(txIdOf(1), OTHER_WALLET)).toBeUndefined()
    expect(views.find(txIdOf(2), WALLET_ID)).toBeUndefined()
  })
})

describe('a transaction that another thread changes', () => {
  test('is shown as changed at once, within the turn of a reader that looked before', async () => {
    const versions = createVersionsBuffer()
    const store = await openRealStore(versions)
    const commits = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const worker = new Worker(
      fileURLToPath(new URL('./fixtures-commit-thread.mjs', import.meta.url)),
      {
        workerData: { directory: store.directory, versions, commits },
      },
    )
    try {
      const { reader } = store
      const headOf = () => null
      const views = createTransactionViews(reader, headOf)
      const console = createConsoleHandlers({ reader, headOf } as unknown as OperationPorts)
      const first = broadcast(1)
      const stages: readonly Transaction[] = [
        first,
        { ...first, spentMicros: 2n },
        { ...first, status: 'confirmed', confirmedAtMs: START_MS + 1 },
      ]
      for (const [done, stage] of stages.entries()) {
        // Both take the snapshot that reads of this turn share.
        const before = views.find(first.txId, WALLET_ID)
        reader.transactions.byId(first.txId)
        worker.postMessage(stage)
        expect(Atomics.wait(commits, 0, done, COMMIT_TIMEOUT_MS)).not.toBe('timed-out')
        const listed = await console.list_transactions({ userId: USER_ID } as ConsoleContext, {})
        const after = views.find(first.txId, WALLET_ID)
        expect(after).not.toEqual(before)
        expect(listed).toMatchObject({ ok: true, value: { transactions: [after] } })
        expect(jsonText(after)).toBe(JSON.stringify(transactionView(stage, null)))
      }
    } finally {
      await worker.terminate()
      await store.close()
    }
  })
})

describe('a send that was answered as broadcast', () => {
  let store: RealStore
  beforeEach(async () => {
    store = await openRealStore()
  })
  afterEach(() => store.close())

  const TOLD = { txId: txIdOf(1), txHash: HASH, broadcast: true, updatedAtMs: START_MS }
  const shown = (id: TxId, { reader, views }: ReturnType<typeof open>) => {
    const all = { limit: 10, cursor: null }
    const listed = reader.transactions.ofUser(USER_ID, all, ({ status }) => status === 'broadcast')
    return {
      view: views.find(id, WALLET_ID)?.status,
      record: reader.transactions.byId(id)?.status,
      listed: listed.items.map(({ status }) => status),
    }
  }
  function open() {
    const sends = createAnsweredSends(store.reader)
    return { ...sends, views: createTransactionViews(sends.reader, () => null) }
  }

  test('is shown as that before its record says so, and as signed by whoever does not know', async () => {
    const sends = open()
    const signed = broadcast(1, { status: 'signed' })
    await store.write((to) => to.addTransaction(signed, null))
    expect(shown(signed.txId, sends)).toEqual({ view: 'signed', record: 'signed', listed: [] })
    sends.note(TOLD)
    const told = { view: 'broadcast', record: 'broadcast', listed: ['broadcast'] }
    expect(shown(signed.txId, sends)).toEqual(told)
    expect(shown(signed.txId, open()).record).toBe('signed')
  })

  test('is shown as that after all that can be answered meanwhile, and is not kept for ever', async () => {
    const sends = open()
    const signed = broadcast(1, { status: 'signed' })
    await store.write((to) => to.addTransaction(signed, null))
    sends.note(TOLD)
    const more = (from: number, to: number) => {
      for (let n = from; n < to; n++) sends.note({ ...TOLD, txId: `tx_${n}` as TxId })
    }
    more(0, 16_384)
    expect(sends.reader.transactions.byId(signed.txId)?.status).toBe('broadcast')
    more(16_384, 3 * 16_384)
    expect(sends.reader.transactions.byId(signed.txId)?.status).toBe('signed')
  })

  test('is shown as signed again when it lost its nonce and was signed once more', async () => {
    const sends = open()
    sends.note(TOLD)
    const [attempt] = broadcast(1).attempts
    if (attempt === undefined) throw new Error('no attempt')
    const again = { ...attempt, txHash: `0x${'cd'.repeat(32)}` } as const
    const anew = broadcast(1, { status: 'signed', attempts: [attempt, again] })
    await store.write((to) => to.addTransaction(anew, null))
    expect(shown(anew.txId, sends)).toEqual({ view: 'signed', record: 'signed', listed: [] })
  })

  test('goes on as its record does', async () => {
    const sends = open()
    sends.note(TOLD)
    await store.write((to) => to.addTransaction(broadcast(1, { status: 'dropped' }), null))
    expect(shown(txIdOf(1), sends)).toMatchObject({ view: 'dropped', record: 'dropped' })
  })
})

const NO_USE = { limitMicros: 0n, usedMicros: 0n }
const NO_GAS = { wallet: NO_USE, user: NO_USE, heldMicros: 0n }

describe('limits that are kept', () => {
  test('are asked for again once the wallet or the gas of its user changes, and on another day', async () => {
    const versions = attachVersions<SubWalletId | UserId>(createVersionsBuffer())
    let now = START_MS
    let used: UsdMicros = 0n as UsdMicros
    let asked = 0
    let whileAsked = () => {}
    const read = getLimits({
      walletVersions: versions,
      freezes: createFreezeBook([], () => null),
      nowMs: () => now,
      actors: {
        ask: (() => {
          asked++
          const counters = { ...NO_SPEND, day: utcDay(now), month: 24_305, dayMicros: used }
          whileAsked()
          const value = { key: apiKey(), counters, above: [], gas: NO_GAS }
          return Promise.resolve({ ok: true, value })
        }) as Actors['ask'],
        tell() {},
      },
    })
    const usedToday = async () => {
      const answer = await read({ key: apiKey() } as AgentContext, {})
      return answer.ok ? answer.value.daily_used_usd : answer.fault
    }
    const before = await usedToday()
    expect(await usedToday()).toBe(before)
    expect(asked).toBe(1)

    used = 5_000_000n as UsdMicros
    versions.countUp(WALLET_ID)
    const after = await usedToday()
    expect(after).not.toBe(before)
    expect(await usedToday()).toBe(after)
    expect(asked).toBe(2)

    now += 24 * 60 * 60 * 1_000
    used = 0n as UsdMicros
    expect(await usedToday()).toBe(before)
    expect(asked).toBe(3)

    // A decision between the question and its answer: the answer may be of before it.
    versions.countUp(WALLET_ID)
    whileAsked = () => versions.countUp(WALLET_ID)
    await usedToday()
    whileAsked = () => {}
    used = 7_000_000n as UsdMicros
    expect(await usedToday()).not.toBe(before)
    expect(asked).toBe(5)

    versions.countUp(apiKey().userId)
    await usedToday()
    expect(asked).toBe(6)
  })
})
