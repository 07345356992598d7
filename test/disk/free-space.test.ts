import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type FreeSpace, watchFreeSpace } from '../../src/disk/free-space.js'
import { fault } from '../../src/errors/fault.js'
import { stopConsoleWrites } from '../../src/operations/console-writes.js'
import type { ConsoleContext, ConsoleHandlers } from '../../src/operations/context.js'
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

test('of the console, what only takes away and what only reads goes on', async () => {
  const handler = () => ({ ok: true as const, value: {} })
  const names = ['create_key', 'patch_key', 'create_webhook', 'list_keys', 'revoke_key'] as const
  const handlers = Object.fromEntries(names.map((name) => [name, handler]))
  const stopped = fault('WRITES_STOPPED', { reason: 'disk' })
  // The handlers that are not called here are not needed.
  const guarded = stopConsoleWrites(handlers as unknown as ConsoleHandlers, () => stopped)
  const answers = await Promise.all(
    names.map((name) => guarded[name]({} as ConsoleContext, {} as never)),
  )
  expect(answers.map(({ ok }) => ok)).toEqual([false, false, false, true, true])
})
