import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLmdb } from '../../src/disk/lmdb-file.js'
import { openUsageRows, type UsageRows } from '../../src/identity-provider/vault/usage-rows.js'
import { addToLedger, NO_POLICY_LEDGER, type PolicyLedger } from '../../src/policy/policy-ledger.js'

const GRANT_ID = randomBytes(16)
const NOON = Date.UTC(2026, 0, 31, 12)
const TAKEN = [{ chainId: 8453, token: 'native', amount: 2n ** 70n }] as const
const CEILINGS = [{ chainId: 8453, token: 'native', per: 'day', amount: 2n ** 80n }] as const

const counted = (ledger: PolicyLedger, seconds: number, times: readonly number[]) =>
  addToLedger(ledger, { atMs: NOON + seconds * 1_000, micros: 0n, taken: TAKEN }, times, CEILINGS)

let directory: string
let root: RootDatabase
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-usage-'))
  root = openLmdb({ path: directory, overlappingSync: false, maxDbs: 16 })
})
afterEach(async () => {
  await root.close()
  rmSync(directory, { recursive: true })
})

async function put(rows: UsageRows, usage: PolicyLedger): Promise<void> {
  rows.putUsage(GRANT_ID, usage)
  await root.batch(() => {
    for (const put of rows.put()) put.flushed()
  })
}

/** As another start of the process reads it. */
const read = () => openUsageRows(root).usage(GRANT_ID)
const slides = () => root.openDB({ name: '17-sliding-times', keyEncoding: 'binary' })

test('what a start reads is what was counted, of each sliding time that there is', async () => {
  expect(read()).toStrictEqual(NO_POLICY_LEDGER)
  const rows = openUsageRows(root)
  let usage = NO_POLICY_LEDGER
  for (const [seconds, ...times] of [
    [0, 60, 3_600],
    [0.1, 60, 3_600],
    [5, 60, 3_600],
    [700, 3_600],
    [9_000, 86_400],
  ] as const) {
    usage = counted(usage, seconds, times)
    await put(rows, usage)
    expect(read()).toStrictEqual(usage)
    expect(slides().getKeysCount()).toBe(usage.windows.length)
  }
})

test('a usage without one of its sliding times is none to sign by, until it is counted again', async () => {
  await put(openUsageRows(root), counted(NO_POLICY_LEDGER, 0, [60, 3_600]))
  const [key] = [...slides().getKeys()]
  if (key === undefined) throw new Error('no sliding time was put')
  await slides().remove(key)
  expect(read).toThrow('a row of usage without its last 60 seconds')
  const anew = counted(NO_POLICY_LEDGER, 5, [60, 3_600])
  await put(openUsageRows(root), anew)
  expect(read()).toStrictEqual(anew)
})
