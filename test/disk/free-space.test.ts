import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type FreeSpace, watchFreeSpace } from '../../src/disk/free-space.js'
import { recordingLog } from '../screening/recording-log.js'

const MORE_THAN_ANY_DISK = 2 ** 60
const directory = mkdtempSync(join(tmpdir(), 'cs-disk-'))
let space: FreeSpace | null = null

afterEach(() => {
  space?.close()
  rmSync(directory, { recursive: true, force: true })
})

const watched = (path: string, floorBytes: number) =>
  watchFreeSpace({ path, floorBytes, log: recordingLog() })

test('below the floor writes stop, with what is left and what is kept', async () => {
  space = await watched(tmpdir(), MORE_THAN_ANY_DISK)
  expect(space.low).toBe(true)
  expect(space.refusal()).toMatchObject({ code: 'WRITES_STOPPED', details: { reason: 'disk' } })
  expect(space.refusal()?.message).toMatch(/^The disk has \d+ MiB left/)
})

test('above it they go on', async () => {
  space = await watched(tmpdir(), 1)
  expect(space.freeBytes).toBeGreaterThan(1)
  expect(space.refusal()).toBeNull()
})

test('a disk that cannot be looked at is not relied on', async () => {
  space = await watched(join(directory, 'gone'), 1)
  expect(space.freeBytes).toBeNull()
  expect(space.refusal()?.message).toContain('cannot be read')
})
