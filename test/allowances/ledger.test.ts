import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ALLOWANCES_MAX,
  type AllowancesRecorded,
  allowancesOf,
} from '../../actors/sub-wallet/core/allowance-ledger.js'
import { evolve } from '../../actors/sub-wallet/core/evolve.js'
import { type Draft, emptyState } from '../../actors/sub-wallet/core/state.js'
import { loadAllowances, writeAllowances } from '../../actors/sub-wallet/stored-allowances.js'
import { allowanceKey } from '../../src/domain/allowance.js'
import type { Address, LineageId, SubWalletId, TxId } from '../../src/domain/ids.js'
import { type Environment, openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { knownSpendersOf } from '../../src/store/known-spenders.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'

const OWNER: Address = '0x00000000000000000000000000000000000000Aa'
const TOKEN: Address = '0x00000000000000000000000000000000000000bB'
const LINEAGE = 'key_ledger' as LineageId
const reservation = { micros: 1n, day: 20_000, month: 600 }
const [BASE, OPTIMISM] = [8453, 10]

let directory: string
let environment: Environment
let reader: Reader
let state: ReturnType<typeof emptyState>
let transactions = 0

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cs-ledger-'))
  environment = openEnvironment(directory)
  reader = createReader(environment)
  state = { ...emptyState('sw_ledger' as SubWalletId), allowancesComplete: true }
  await commit((batch) => batch.putAllowanceLedger(OWNER, { complete: true }))
})

afterEach(async () => {
  await environment.root.close()
  rmSync(directory, { recursive: true, force: true })
})

async function commit(write: (batch: WriteBatch) => void): Promise<void> {
  const batch = new WriteBatch()
  write(batch)
  await localCommits(
    environment,
    attachEventSequence(createEventSequenceBuffer(), () => true),
  ).commit(batch)
  reader.fresh()
}

function spenderAt(index: number): Address {
  return `0x${index.toString(16).padStart(40, '0')}`
}

/** One signed transaction that approves each of `spenders`. */
async function approve(spenders: readonly number[], chainId = BASE): Promise<AllowancesRecorded> {
  const txId = `tx_${String(++transactions).padStart(8, '0')}` as TxId
  const approvals = spenders.map((index) => ({
    token: TOKEN,
    owner: OWNER,
    spender: spenderAt(index),
    amount: 1n,
    kind: 'erc20' as const,
    valueMicros: null,
  }))
  const basis = { approvals } as unknown as Draft['basis']
  const event = allowancesOf(state, {
    basis,
    call: { chainId } as Draft['call'],
    txId,
    lineageId: LINEAGE,
    reservation,
  })
  if (event === null) throw new Error('nothing was approved')
  state = evolve(state, event)
  await commit((batch) => writeAllowances(batch, OWNER, event))
  return event
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, i) => from + i)
}

describe('the ledger of approvals', () => {
  test('says nothing of a wallet that is older than it', () => {
    expect(knownSpendersOf(reader)(BASE, TOKEN)).toBeNull()
  })

  test('knows everyone approved on a chain, whatever the spelling of the wallet', async () => {
    await approve([1, 2])
    await approve([3], OPTIMISM)
    await approve([2])
    const known = knownSpendersOf(reader)
    expect(known(BASE, OWNER)).toEqual(new Set([1, 2].map(spenderAt)))
    expect(known(BASE, OWNER.toLowerCase() as Address)).toEqual(known(BASE, OWNER))
    expect(known(OPTIMISM, OWNER)).toEqual(new Set([spenderAt(3)]))
    expect(known(1, OWNER)).toEqual(new Set())
  })

  test('keeps the newest when it is full, and then claims to be complete no more', async () => {
    await approve(range(1, ALLOWANCES_MAX - 1))
    await approve([1])
    await approve([0])
    expect(knownSpendersOf(reader)(BASE, OWNER)?.size).toBe(ALLOWANCES_MAX)
    const event = await approve([5_000, 5_001])
    const key = (index: number) =>
      allowanceKey({
        chainId: BASE,
        token: TOKEN,
        spender: spenderAt(index),
        kind: 'erc20',
        tokenId: null,
      })
    expect(event.forgotten).toEqual([key(2), key(3)])
    expect(knownSpendersOf(reader)(BASE, OWNER)).toBeNull()
    const kept = [...reader.allowances.ofWallet(OWNER)].map(allowanceKey)
    expect(kept).toHaveLength(ALLOWANCES_MAX)
    expect(kept).toEqual(expect.arrayContaining([key(0), key(1), key(5_001)]))
    expect(new Set(kept)).toEqual(new Set(state.allowances.keys()))
  })

  test('is the same after a restart, its oldest first', async () => {
    for (const spenders of [[9], [8, 7], [9]]) await approve(spenders)
    const loaded = loadAllowances(reader, OWNER)
    expect(loaded).toEqual(state.allowances)
    expect([...loaded.keys()].at(-1)).toBe([...state.allowances.keys()].at(-1))
  })

  test('survives one transaction with more approvals than it holds', async () => {
    await approve(range(0, ALLOWANCES_MAX + 24))
    expect(state.allowances.size).toBe(ALLOWANCES_MAX)
    expect([...reader.allowances.ofWallet(OWNER)]).toHaveLength(ALLOWANCES_MAX)
  })
})
