import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fault } from '../../src/errors/fault.js'
import { type ReadinessSources, readinessParts } from '../../src/http/readiness-parts.js'
import { importList } from '../../src/screening/lists/import-list.js'
import { createListOwner } from '../../src/screening/lists/list-owner.js'
import { LISTED } from '../screening/fixtures.js'
import { advanced } from '../screening/list-samples.js'
import { recordingLog } from '../screening/recording-log.js'

const YEAR_MS = 365 * 86_400_000

const WELL: ReadinessSources = {
  quorum: () => ({ identityProvider: true, quorumSigner: true, complete: true, fenced: false }),
  readStore: () => undefined,
  lists: () => ({ ready: true, reason: null, lists: [], problems: [] }),
  prices: () => [],
  chains: () => [
    {
      ...{ chainId: 1, name: 'Ethereum', blockTimeMs: 12_000 },
      ...{ head: { number: 7, ageMs: 1_000 }, endpoints: 2, doubtedEndpoints: 0 },
    },
  ],
  disk: { freeBytes: 2 ** 30, floorBytes: 2 ** 28, refusal: () => null },
  clock: { aheadMs: () => 40, refusal: () => null },
  journal: null,
}

function reportOf(name: string, sources: Partial<ReadinessSources>) {
  const part = readinessParts({ ...WELL, ...sources }).find((one) => one.name === name)
  if (part === undefined) throw new Error(`there is no part ${name}`)
  return part.report()
}

test('a live list past its age is down, in words that name it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'cs-ready-'))
  const file = join(home, 'sdn.xml')
  const storeDirectory = join(home, 'lists')
  await writeFile(file, advanced([{ name: 'ONE', accounts: [['ETH', LISTED]] }]))
  const log = recordingLog()
  await importList({ source: 'ofac-sdn', file }, { storeDirectory, protectedAddresses: [] })
  let nowMs = Date.now()
  const owner = await createListOwner({
    ...{ mode: 'live', textListsDirectory: join(home, 'texts'), storeDirectory, log },
    ...{ protectedAddresses: [], nowMs: () => nowMs },
  })
  try {
    const lists = () => owner.status()
    expect(reportOf('lists', { lists })).toEqual({ status: 'up' })
    nowMs += YEAR_MS
    const report = reportOf('lists', { lists })
    expect(report).toMatchObject({ status: 'down', stale: ['ofac-sdn'] })
    expect(JSON.stringify(report)).not.toContain(home)
  } finally {
    owner.close()
    await rm(home, { recursive: true, force: true })
  }
})

test('a service that a later start has taken over from says that, whoever else answers', () => {
  const well = { identityProvider: true, quorumSigner: true, complete: false, fenced: true }
  for (const quorum of [well, { ...well, identityProvider: false, quorumSigner: false }]) {
    const report = reportOf('quorum', { quorum: () => quorum })
    expect(report).toMatchObject({ status: 'down', fenced: true })
    expect(report.reason).toContain('another start of this service has taken over')
  }
})

test('feeds without a price are named, and stop nobody who may do without', () => {
  const gap = { chainId: 1, source: 'chainlink:0x1', gap: 'stale' }
  expect(reportOf('prices', { prices: () => [gap] })).toEqual({
    status: 'degraded',
    reason: expect.stringContaining('chains 1'),
    missing: [{ chain_id: 1, source: 'chainlink:0x1', gap: 'stale' }],
  })
})

test('a store that cannot be read is down, whatever the error says', () => {
  const readStore = () => {
    throw new Error('/secret/path')
  }
  const report = reportOf('store', { readStore })
  expect(report.status).toBe('down')
  expect(report.reason).not.toContain('secret')
})

test('a chain that was never seen is down, and no chain at all stops writes', () => {
  const [one] = WELL.chains()
  if (one === undefined) throw new Error('there is a chain')
  const unseen = { ...one, chainId: 10, name: 'Optimism', head: null }
  expect(reportOf('chains', { chains: () => [one, unseen] })).toMatchObject({
    status: 'degraded',
    chains: { 1: { status: 'up' }, 10: { status: 'down' } },
  })
  expect(reportOf('chains', { chains: () => [unseen] }).status).toBe('down')
})

test('endpoints that name another chain id show, and stop the chain once none is left', () => {
  const [one] = WELL.chains()
  if (one === undefined) throw new Error('there is a chain')
  const half = { ...one, chainId: 10, name: 'Optimism', doubtedEndpoints: 1 }
  expect(reportOf('chains', { chains: () => [one, half] })).toMatchObject({
    status: 'degraded',
    reason: expect.stringContaining('Optimism (10)'),
    chains: {
      1: { status: 'up' },
      10: { status: 'degraded', reason: '1 of 2 endpoints report another chain id.' },
    },
  })
  const none = { ...half, doubtedEndpoints: 2 }
  expect(reportOf('chains', { chains: () => [none] }).status).toBe('down')
})

test('a clock that no block bears out yet is down: no write would begin', () => {
  const unchecked = fault('WRITES_STOPPED', { reason: 'clock' }, 'No block has been seen yet.')
  const clock = { aheadMs: () => null, refusal: () => unchecked }
  expect(reportOf('clock', { clock })).toEqual({
    status: 'down',
    reason: 'No block has been seen yet.',
  })
})

test('a journal is a part where there is one, and is down while it does not answer', () => {
  expect(() => reportOf('journal', {})).toThrow('no part')
  const leadership = { epoch: 7 }
  const redundancy = { reason: null }
  const journal = { leadership, redundancy, snapshots: null, refusal: () => null }
  expect(reportOf('journal', { journal })).toEqual({ status: 'up', epoch: 7 })
  const away = fault('WRITES_STOPPED', { reason: 'journal' }, 'It does not answer.')
  const [lags, follows] = [true, false].map((is) => ({ isBehind: () => is }))
  const silent = { leadership, redundancy, snapshots: lags ?? null, refusal: () => away }
  expect(reportOf('journal', { journal: silent })).toEqual({
    status: 'down',
    reason: 'It does not answer.',
    epoch: 7,
  })
  // Whoever writes need not wait for a snapshot.
  expect(reportOf('journal', { journal: { ...journal, snapshots: lags ?? null } })).toEqual({
    status: 'degraded',
    reason: expect.stringContaining('No snapshot of the store'),
    epoch: 7,
  })
  const well = reportOf('journal', { journal: { ...journal, snapshots: follows ?? null } })
  expect(well).toEqual({ status: 'up', epoch: 7 })
  const alone = { reason: 'Each commit waits for a standby.' }
  expect(reportOf('journal', { journal: { ...journal, redundancy: alone } })).toEqual({
    status: 'degraded',
    ...alone,
    epoch: 7,
  })
  expect(reportOf('journal', { journal: { ...silent, redundancy: alone } }).reason).toBe(
    'It does not answer. Each commit waits for a standby.',
  )
})
