import { beforeEach, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import { encodeExecute } from '../../src/contracts/router-intent.js'
import type { Address, Hex, KeyId, LineageId, TxId } from '../../src/domain/ids.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { backtestKey } from '../../src/operations/console/backtest.js'
import type { ConsoleContext } from '../../src/operations/context.js'
import type { Commits } from '../../src/store/commits.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { createMemoryEnvironment } from '../actors/memory-environment.js'
import {
  ADDRESS,
  ATTEMPT,
  apiKey,
  type Flat,
  KEY_ID,
  transaction,
  txIdOf,
  USER_ID,
} from '../actors/wallet-fixtures.js'
import { PAYEES, transferData, USDC } from '../policy/random-policies.js'

const CHILD_ID = `key_${'2'.padStart(26, '0')}` as KeyId
const CHILD_LINEAGE = CHILD_ID as string as LineageId
const VENUE: Address = '0x7777777777777777777777777777777777777777'
const ROUTER: Address = '0x8888888888888888888888888888888888888888'
const DEPOSIT: Hex = `0x6e553f65${'0'.repeat(128)}`
const [ALICE = ADDRESS, BOB = ADDRESS] = PAYEES

let reader: Reader
let commits: Commits
let sends: Transaction[]

beforeEach(() => {
  const environment = createMemoryEnvironment()
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  reader = createReader(environment)
  commits = localCommits(environment, sequence)
  sends = []
})

/** One more past call of the key, which came to its end as it says. */
function past(said: Partial<Flat<Transaction>> = {}): TxId {
  const n = sends.length + 1
  const lived = { status: 'confirmed', attempts: [ATTEMPT], value: 0n } as const
  sends.push(transaction(n, { ...lived, ...said }))
  return txIdOf(n)
}

function tokens(amount: bigint, said: Partial<Flat<Transaction>> = {}): TxId {
  return past({ to: USDC, data: transferData(ALICE, amount), ...said })
}

async function storePast(): Promise<void> {
  const batch = new WriteBatch()
  batch.putApiKey(apiKey())
  const child = { keyId: CHILD_ID, lineageId: CHILD_LINEAGE, secretHash: 'bb'.repeat(32) }
  batch.putApiKey(apiKey({ ...child, parentLineageId: apiKey().lineageId }))
  for (const tx of sends) batch.addTransaction(tx, null)
  await commits.commit(batch)
}

async function backtest(asked: object) {
  await storePast()
  const handler = backtestKey({ reader, timers: systemTimers() })
  const context = { userId: USER_ID } as ConsoleContext
  const answer = await handler(context, { key_id: KEY_ID, ...asked } as never)
  if (!answer.ok) throw new Error(answer.fault.code)
  const { checked, refused, policy_denied = [] } = answer.value
  const idsOf = (found: readonly { readonly tx_id: string }[]) => found.map(({ tx_id }) => tx_id)
  return { checked, refused: idsOf(refused), denied: idsOf(policy_denied) }
}

const ceiling = (amount: string) => ({
  default: 'allow',
  ceilings: [{ chain_id: 8453, token: USDC, per: 'day', amount }],
})

describe('a backtest', () => {
  test('looks at what was let through, and at nothing that people kept from it', async () => {
    const never = { attempts: [], spentMicros: 0n }
    for (const status of ['declined', 'expired', 'withdrawn', 'dropped'] as const) {
      tokens(100n, { ...never, status })
    }
    tokens(100n, { attempts: [], status: 'awaiting_approval' })
    const sent = tokens(100n)
    const one = { default: 'allow', rules: [denyBeyond(1)] }
    expect(await backtest({ policy: one, daily_limit_usd: '0.000001' })).toEqual({
      ...{ checked: 1, refused: [], denied: [] },
    })
    expect(await backtest({ policy: ceiling('99') })).toMatchObject({ denied: [sent] })
  })

  test('gives back what moved nothing in the end, and takes nobody for paid by it', async () => {
    tokens(100n, { status: 'failed' })
    tokens(100n, { status: 'dropped' })
    const second = tokens(100n)
    const third = tokens(1n)
    expect(await backtest({ policy: ceiling('100') })).toMatchObject({ denied: [third] })
    const strangers = { name: 'new', effect: 'deny', when: { new_beneficiary: true } }
    const { denied } = await backtest({ policy: { default: 'allow', rules: [strangers] } })
    expect(denied).toContain(second)
  })

  test('counts on a key what the keys that it made have done', async () => {
    const own = tokens(60n)
    const below = tokens(60n, { keyId: CHILD_ID, lineageId: CHILD_LINEAGE })
    expect(await backtest({ policy: ceiling('100') })).toEqual({
      ...{ checked: 2, refused: [], denied: [below] },
    })
    expect(await backtest({ daily_limit_usd: '0.000001' })).toMatchObject({ refused: [below] })
    expect(await backtest({ key_id: CHILD_ID, policy: ceiling('59') })).toEqual({
      ...{ checked: 1, refused: [], denied: [below] },
    })
    expect(own).not.toBe(below)
  })

  test('is one at work of a user, and one that waits, however many are asked for at once', async () => {
    for (let i = 0; i < 300; i++) tokens(1n)
    await storePast()
    const slices: (() => void)[] = []
    const timers = { ...systemTimers(), soon: (slice: () => void) => void slices.push(slice) }
    const handler = backtestKey({ reader, timers })
    const context = { userId: USER_ID } as ConsoleContext
    const asked = Array.from({ length: 100 }, async () => {
      const answer = await handler(context, { key_id: KEY_ID } as never)
      return answer.ok ? answer.value.checked : answer.fault.code
    })
    let running = true
    const answers = Promise.all(asked).finally(() => {
      running = false
    })
    while (running) {
      expect(slices.length).toBeLessThanOrEqual(1)
      slices.pop()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await answers).toEqual([300, 300, ...Array(98).fill('OVERLOADED')])
  })

  test('judges a sponsored call by its intent, as it was judged', async () => {
    const intent = {
      ...{ account: ADDRESS, tokenIn: USDC, amountIn: 100n, feeBps: 10, tokenOut: BOB },
      ...{ minOut: 1n, target: VENUE, nonce: 1n, deadline: 1, data: DEPOSIT },
    }
    const data = encodeExecute(intent, new Uint8Array(65), {
      publicKey: new Uint8Array(65),
      signature: new Uint8Array(64),
    })
    const swap = past({ kind: 'defi_deposit', to: ROUTER, data })
    const at = (when: object) => ({
      ...{ default: 'deny', rules: [{ name: 'it', effect: 'allow', when }] },
    })
    const venue = { to: [VENUE], functions: ['deposit(uint256,address)'], value_native_lte: '0' }
    expect(await backtest({ policy: at(venue) })).toMatchObject({ denied: [] })
    const amounts = [{ token: USDC, lte: '100' }]
    expect(await backtest({ policy: at({ amounts }) })).toMatchObject({ denied: [] })
    expect(await backtest({ policy: at({ to: [ROUTER] }) })).toMatchObject({ denied: [swap] })
    expect(await backtest({ policy: ceiling('100') })).toMatchObject({ denied: [] })
    expect(await backtest({ policy: ceiling('99') })).toMatchObject({ denied: [swap] })
  })
})

function denyBeyond(gt: number) {
  return { name: 'count', effect: 'deny', when: { count: { per_seconds: 3_600, gt } } }
}
