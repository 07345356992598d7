import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noteBackup, readLastBackup } from '../../src/disk/last-backup.js'
import {
  getServiceStatus,
  type ServiceFigures,
} from '../../src/operations/console/service-status.js'
import type { ConsoleContext } from '../../src/operations/context.js'

const ADDRESS = '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'last-backup-'))
  mkdirSync(join(home, 'service'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const READINESS = {
  status: 'not_ready',
  draining: false,
  parts: { disk: { status: 'down', reason: 'Little is left.', free_mib: 3 } },
} as const

const FIGURES: ServiceFigures = {
  lanes: () => [
    { chainId: 1, count: 3, oldestAtMs: 7_500, lanes: 2 },
    { chainId: 10, count: 0, oldestAtMs: null, lanes: 0 },
  ],
  gasWallets: () => [],
  queues: () => [{ queue: 'signing', length: 4, waitMs: 2.6, dropped: 1 }],
  writes: () => ({ active: 1, waiting: 2, activeMax: 3, refusals: 4 }),
  webhooks: () => ({ count: 5, oldestAtMs: 1_000 }),
  disk: { freeBytes: null, floorBytes: 6 },
  lastBackup: () => readLastBackup(home),
  logLevel: 'warn',
  readiness: () => READINESS,
}

async function statusOf(figures: Partial<ServiceFigures> = {}) {
  const ask = getServiceStatus({ figures: { ...FIGURES, ...figures }, nowMs: () => 10_000 })
  const answer = await ask({} as ConsoleContext, {})
  if (!answer.ok) throw new Error(answer.fault.code)
  return answer.value
}

describe('what the service knows of itself', () => {
  test('is shown in whole seconds and milliseconds, and what is not known as null', async () => {
    expect(await statusOf()).toEqual({
      chains: [
        { chain_id: 1, open_lanes: 2, open_transactions: 3, oldest_unconfirmed_seconds: 2 },
        { chain_id: 10, open_lanes: 0, open_transactions: 0, oldest_unconfirmed_seconds: null },
      ],
      gas_wallets: [],
      queues: [{ queue: 'signing', length: 4, wait_ms: 3, dropped: 1 }],
      writes: { active: 1, waiting: 2, active_max: 3, refused: 4 },
      webhooks: { waiting_events: 5, oldest_seconds: 9 },
      disk: { free_bytes: null, floor_bytes: 6 },
      last_backup: null,
      log_level: 'warn',
      readiness: READINESS,
    })
  })

  test('says of a gas wallet whether it is low, once it was read', async () => {
    const wallet = { chainId: 1, address: ADDRESS } as const
    const { gas_wallets } = await statusOf({
      gasWallets: () => [
        { ...wallet, gasWalletId: '1:0', seen: { wei: 9n, lowBelowWei: 10n, atMs: 0 } },
        { ...wallet, gasWalletId: '1:1', seen: { wei: 10n, lowBelowWei: 10n, atMs: 0 } },
        { ...wallet, gasWalletId: '1:2', seen: null },
      ],
    })
    expect(gas_wallets.map(({ low }) => low)).toEqual([true, false, false])
    expect(gas_wallets[0]).toMatchObject({
      address: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
      balance_wei: '9',
      low_below_wei: '10',
      checked_at: '1970-01-01T00:00:00.000Z',
    })
    expect(gas_wallets[2]).toMatchObject({ balance_wei: null, checked_at: null })
  })

  test('tells of the last backup that was noted, and of none when the note is no note', async () => {
    const note = { ended_at: '2026-11-23T12:00:00.000Z', result: 'whole', bytes: 7 } as const
    noteBackup(home, { ended_at: note.ended_at, result: 'failed', bytes: null })
    expect((await statusOf()).last_backup).toMatchObject({ result: 'failed' })
    noteBackup(home, note)
    expect((await statusOf()).last_backup).toEqual(note)
    writeFileSync(join(home, 'service', 'last-backup.json'), '{"result": "whole"')
    expect((await statusOf()).last_backup).toBeNull()
  })

  test('a note of a backup is written to no file that a link leads to', () => {
    const other = join(home, 'other')
    writeFileSync(other, 'as it was')
    const path = join(home, 'service', 'last-backup.json')
    for (const link of [path, `${path}.${process.pid}.new`, `${path}.new`]) symlinkSync(other, link)
    noteBackup(home, { ended_at: '2026-11-23T12:00:00.000Z', result: 'whole', bytes: 7 })
    expect(readFileSync(other, 'utf8')).toBe('as it was')
    expect(lstatSync(path).isSymbolicLink()).toBe(false)
    expect(readLastBackup(home)).toMatchObject({ result: 'whole' })
  })
})
