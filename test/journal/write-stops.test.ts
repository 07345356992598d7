import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRpcClient } from '../../src/chains/rpc/client.js'
import { watchFreeSpace } from '../../src/disk/free-space.js'
import { CLOCK_ERROR_MAX_MS } from '../../src/domain/clock.js'
import { importList } from '../../src/screening/lists/import-list.js'
import { createListOwner } from '../../src/screening/lists/list-owner.js'
import { watchWriteStops } from '../../src/service/write-stops.js'
import { LISTED } from '../screening/fixtures.js'
import { recordingLog } from '../screening/recording-log.js'
import { type Anvil, startAnvil } from '../support/anvil.js'

/** Of a standby: its own disk, its own clock by the blocks of a chain, the lists in its home. */

const YEAR_MS = 365 * 86_400_000
const CHAIN_ID = 8453
const MIRROR = `sanctions-oracle-${CHAIN_ID}`

let home: string
let chain: Anvil
const closing: (() => unknown)[] = []
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'cs-stops-'))
  chain = await startAnvil({ chainId: CHAIN_ID })
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  await chain.stop()
  rmSync(home, { recursive: true, force: true })
})

async function watched(floorBytes: number, mirrors: readonly string[] = []) {
  const now = { machineMs: Date.now(), listsMs: Date.now() }
  const log = recordingLog()
  const storeDirectory = join(home, 'service', 'lists')
  const file = join(home, 'operators.txt')
  writeFileSync(file, `${LISTED}\n`)
  const source = { source: 'plain', name: 'operators', file, maxAgeSeconds: 86_400 } as const
  await importList(source, { storeDirectory, protectedAddresses: [] })
  const lists = await createListOwner({
    ...{ mode: 'live', textListsDirectory: join(home, 'lists'), storeDirectory, log },
    ...{ protectedAddresses: [], mirrors, nowMs: () => now.listsMs },
  })
  const disk = await watchFreeSpace({ path: home, floorBytes, log })
  const rpc = createRpcClient({ chainId: CHAIN_ID, endpoints: [chain.url] })
  const chains = new Map([[CHAIN_ID, { rpc }]])
  const stops = watchWriteStops({ chains, disk, lists, machineMs: () => now.machineMs })
  closing.push(
    stops.close,
    disk.close,
    () => lists.close(),
    () => rpc.close(),
  )
  return { stops, now, lists, storeDirectory }
}

test('nothing stops writes where disk, clock and lists are well', async () => {
  const { stops } = await watched(1)
  expect(stops.why()).toBeNull()
})

test('an oracle that is not mirrored yet stops them', async () => {
  const { stops } = await watched(1, [MIRROR])
  expect(stops.why()).toContain('is not mirrored yet')
})

test('a clock that is not what the newest blocks say stops them, until it is right', async () => {
  const { stops, now } = await watched(1)
  now.machineMs += 10 * CLOCK_ERROR_MAX_MS
  await expect.poll(() => stops.why()).toContain('clock')
  now.machineMs -= 10 * CLOCK_ERROR_MAX_MS
  expect(stops.why()).toBeNull()
})

test('a disk with less free than is to be stops them', async () => {
  const { stops } = await watched(Number.MAX_SAFE_INTEGER)
  expect(stops.why()).toContain('COUNTERSIGN_DISK_FREE_MIN_MIB')
})

test('lists that are too old, or gone, stop them', async () => {
  const { stops, now, lists, storeDirectory } = await watched(1)
  now.listsMs += YEAR_MS
  expect(stops.why()).toBe('screening: a list is stale')
  now.listsMs -= YEAR_MS
  expect(stops.why()).toBeNull()
  rmSync(storeDirectory, { recursive: true })
  await lists.refresh()
  expect(stops.why()).toBe('screening: no sanctions list is imported')
})
