import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fenceStore } from '../../src/cli/backup/fence-store.js'
import type { SinceBackup } from '../../src/cli/backup/since-backup.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { capBreach, NO_SPEND, reserve, settle, utcDay, utcMonth } from '../../src/domain/spend.js'
import { GAS_USED_UP_MICROS } from '../../src/domain/sponsored-gas.js'
import { parsePolicy } from '../../src/policy/parse-policy.js'
import {
  addToLedger,
  countedWithin,
  NO_POLICY_LEDGER,
  unitsUsed,
} from '../../src/policy/policy-ledger.js'
import { openEnvironment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import { apiKey, KEY_ID, LINEAGE_ID, WALLET_ID, wallet } from '../actors/wallet-fixtures.js'

const NOW_MS = Date.UTC(2026, 5, 15, 12)
const CAPS = { dailyLimitMicros: 1_000n, monthlyLimitMicros: 5_000n }
const RESERVED = { micros: 300n, day: utcDay(NOW_MS), month: utcMonth(NOW_MS) }
const TOKEN = '0x2222222222222222222222222222222222222222'
const HOUR_SECONDS = 3_600

const POLICY = parsePolicy({
  default: 'allow',
  rules: [{ name: 'many', effect: 'deny', when: { count: { per_seconds: HOUR_SECONDS, gt: 10 } } }],
  ceilings: [{ chain_id: 8453, token: TOKEN, per: 'day', amount: '500' }],
})

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fence-'))
  const environment = openEnvironment(directory)
  const batch = new WriteBatch()
  const counters = reserve(NO_SPEND, RESERVED)
  batch.addSubWallet({
    ...{ wallet, lanes: [], open: [] },
    spend: [{ lineageId: LINEAGE_ID, counters }],
  })
  if (!POLICY.ok) throw new Error(JSON.stringify(POLICY))
  batch.putApiKey(apiKey({ ...CAPS, policy: POLICY.policy }))
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  await localCommits(environment, sequence).commit(batch)
  await environment.root.close()
})
afterEach(() => rm(directory, { recursive: true, force: true }))

async function fencedBy<T>(since: SinceBackup | null, read: (reader: Reader) => T): Promise<T> {
  await fenceStore(directory, since, NOW_MS)
  const environment = openEnvironment(directory)
  try {
    return read(createReader(environment))
  } finally {
    await environment.root.close()
  }
}

const countersOf = (reader: Reader) => {
  const counters = reader.wallets.header(WALLET_ID)?.spend[0]?.counters
  if (counters === undefined) throw new Error('no counters')
  return counters
}

const hexOf = (id: typeof KEY_ID) => Buffer.from(ulidBytes(id)).toString('hex')

test('a reservation that ends for nothing leaves no room in a cap that counts as used up', async () => {
  const counters = await fencedBy(null, countersOf)
  const ended = settle(counters, RESERVED, 0n)
  expect(ended.reservedMicros).toBe(0n)
  expect(capBreach(ended, CAPS, 1n)).toMatchObject({ period: 'daily' })
  expect(ended.monthMicros).toBe(CAPS.monthlyLimitMicros)
})

test('a policy’s counts and ceilings are full, and the day’s paid gas is used up', async () => {
  const { ledger, sponsored } = await fencedBy(null, (reader) => ({
    ledger: new Map(reader.keys.policyLedgersOf(WALLET_ID)).get(LINEAGE_ID),
    sponsored: reader.wallets.header(WALLET_ID)?.sponsored,
  }))
  if (ledger === undefined || !POLICY.ok) throw new Error('no ledger')
  expect(countedWithin(ledger, HOUR_SECONDS, NOW_MS + 1_000).count).toBeGreaterThan(10)
  expect(countedWithin(ledger, HOUR_SECONDS, NOW_MS + 2 * HOUR_SECONDS * 1_000).count).toBe(0)
  for (const ceiling of POLICY.policy.ceilings) {
    expect(unitsUsed(ledger, ceiling, NOW_MS)).toBeGreaterThanOrEqual(ceiling.amount)
  }
  expect(sponsored?.gas).toEqual({
    day: utcDay(NOW_MS),
    micros: GAS_USED_UP_MICROS,
  })
  // A Router's nonce that was used since is not handed out again.
  expect(sponsored?.intentNonces.every(({ next }) => next >= 2 ** 16)).toBe(true)
})

test('counts that are damaged count as full, too', async () => {
  const environment = openEnvironment(directory)
  const call = { atMs: NOW_MS, micros: 1n, taken: [] }
  const batch = new WriteBatch()
  const ledger = addToLedger(NO_POLICY_LEDGER, call, [HOUR_SECONDS], [])
  batch.putPolicyLedger(WALLET_ID, LINEAGE_ID, ledger, ledger)
  const sequence = attachEventSequence(createEventSequenceBuffer(), () => true)
  await localCommits(environment, sequence).commit(batch)
  expect(() => [...createReader(environment).keys.policyLedgersOf(WALLET_ID)]).toThrow()
  await environment.root.close()
  const fenced = await fencedBy(null, (reader) =>
    new Map(reader.keys.policyLedgersOf(WALLET_ID)).get(LINEAGE_ID),
  )
  const counted = countedWithin(fenced ?? NO_POLICY_LEDGER, HOUR_SECONDS, NOW_MS + 1_000)
  expect(counted.count).toBeGreaterThan(10)
})

test('a key of a wallet that signed nothing keeps its spend, and loses what was taken from it', async () => {
  const later = { dailyLimitMicros: 400n, monthlyLimitMicros: null, revokedAtMs: null }
  const grants = new Map([[hexOf(KEY_ID), later]])
  const since = { usedWallets: new Set<string>(), grants, lastAtMs: NOW_MS }
  const { counters, key } = await fencedBy(since, (reader) => ({
    counters: countersOf(reader),
    key: reader.keys.byId(KEY_ID),
  }))
  expect(counters.dayMicros).toBe(RESERVED.micros)
  expect(key).toMatchObject({ dailyLimitMicros: 400n, monthlyLimitMicros: 5_000n })
})
