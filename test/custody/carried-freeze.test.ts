import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import {
  bringFreeze,
  freezeInstance,
  instanceFreezePath,
  readInstanceFreeze,
  unfreezeInstance,
} from '../../src/custody/instance-freeze.js'
import { carriedFreezeOf } from '../../src/store/carried-freeze.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import { leaveJournal } from '../../src/store/journal-position.js'
import { INSTANCE_FREEZE } from '../../src/store/readers/freezes.js'
import { type FreezeMirror, mirrorFreeze } from '../../src/wiring/mirror-freeze.js'
import { openRealStore, type RealStore } from '../actors/real-store.js'

const SINCE_MS = Date.UTC(2026, 5, 15)
const NOW_MS = SINCE_MS + 60_000

let store: RealStore
let home: string
let path: string
let mirror: FreezeMirror | null
const failures: unknown[] = []
const log = { warn: () => undefined, error: (context: object) => failures.push(context) }

beforeEach(async () => {
  store = await openRealStore()
  home = mkdtempSync(join(tmpdir(), 'cs-freeze-'))
  mkdirSync(join(home, 'service'))
  path = instanceFreezePath(home, 'service')
  mirror = null
})
afterEach(async () => {
  await mirror?.close()
  await store.close()
  rmSync(home, { recursive: true, force: true })
  expect(failures.splice(0)).toEqual([])
})

const carried = () => carriedFreezeOf(store.reader.fresh().freezes)

function bring(): void {
  bringFreeze(home, 'service', carried(), NOW_MS, log)
}

function startMirror(): void {
  const { reader, commits } = store
  mirror = mirrorFreeze({ home, reader, commits, timers: systemTimers(), log })
}

describe('the row of the operator’s freeze', () => {
  test('is level with the file, from before the start on and after a last look', async () => {
    freezeInstance(path, 'look', SINCE_MS)
    startMirror()
    await expect.poll(carried).toEqual({ sinceMs: SINCE_MS, reason: 'look' })
    unfreezeInstance(path)
    mirror?.poll()
    await expect.poll(carried).toBeNull()
    freezeInstance(path, null, NOW_MS)
    await mirror?.close()
    expect(carried()).toEqual({ sinceMs: NOW_MS, reason: null })
  })

  test('freezes a home that has no file, as the first one was', async () => {
    freezeInstance(path, 'look', SINCE_MS)
    const first = readInstanceFreeze(path)
    startMirror()
    await mirror?.close()
    rmSync(path)
    bring()
    expect(readInstanceFreeze(path)).toEqual(first)
    // Its own, if it has one, is not touched.
    rmSync(path)
    freezeInstance(path, 'here', NOW_MS)
    bring()
    expect(readInstanceFreeze(path)).toMatchObject({ reason: 'here', sinceMs: NOW_MS })
  })

  test('that is not there freezes nothing, and lifts no file', () => {
    bring()
    expect(existsSync(path)).toBe(false)
    freezeInstance(path, 'here', NOW_MS)
    bring()
    expect(readInstanceFreeze(path)).not.toBeNull()
  })

  test.each([
    'yes',
    null,
    {},
    { sinceMs: 'x', reason: null },
    { sinceMs: Number.NaN, reason: null },
    { sinceMs: 9e15, reason: null },
    { sinceMs: 0, reason: 7 },
  ])('that cannot be read freezes, and says so: %j', async (row) => {
    store.environment.spaces.meta.putSync(INSTANCE_FREEZE, packedRecord(row))
    bring()
    const frozen = readInstanceFreeze(path)
    expect(frozen).toMatchObject({
      sinceMs: NOW_MS,
      reason: expect.stringContaining('cannot be read'),
    })
    // The operator lifts it as any other.
    startMirror()
    await expect.poll(carried).toMatchObject({ sinceMs: NOW_MS })
    unfreezeInstance(path)
    mirror?.poll()
    await expect.poll(carried).toBeNull()
  })

  test('that is damaged freezes', () => {
    const damaged = () => {
      throw new Error('damaged')
    }
    bringFreeze(home, 'service', carriedFreezeOf({ instance: damaged }), NOW_MS, log)
    expect(readInstanceFreeze(path)).not.toBeNull()
  })

  test('that cannot be made a file of lets nothing start', async () => {
    freezeInstance(path, null, SINCE_MS)
    startMirror()
    await mirror?.close()
    rmSync(home, { recursive: true })
    writeFileSync(home, 'in the way')
    expect(bring).toThrow()
    mirror = null
  })

  test('is gone with the journal, and comes back with no other', async () => {
    freezeInstance(path, null, SINCE_MS)
    startMirror()
    await mirror?.close()
    store.environment.spaces.meta.putSync('journal_position', packedRecord({}))
    expect(await leaveJournal(store.environment)).toBe(true)
    expect(carried()).toBeNull()
  })
})
