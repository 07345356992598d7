import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type FreeSpace, watchFreeSpace } from '../../src/disk/free-space.js'
import type { AddressRule } from '../../src/domain/address-rule.js'
import type { Address, KeyId, UserId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import { stopConsoleWrites } from '../../src/operations/console-writes.js'
import type { ConsoleContext, ConsoleHandlers } from '../../src/operations/context.js'
import { apiKey, KEY_ID, USER_ID } from '../actors/wallet-fixtures.js'
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

/** The user has a key with caps, an entry that allows and one that blocks; others have a key. */
function records() {
  const key = apiKey({ allowedChains: [1, 10], dailyLimitMicros: 5_000_000n })
  const rule = (address: Address, action: AddressRule['action']): AddressRule => ({
    ...{ address, action, note: null, createdAtMs: 0 },
  })
  return {
    fresh: () => undefined,
    keys: {
      byId: (id: KeyId) => (id === KEY_ID ? key : { ...key, userId: 'user_other' as UserId }),
    },
    users: { addressRules: () => [rule(ALLOWED, 'allow'), rule(BLOCKED, 'block')] },
  }
}

const ALLOWED: Address = '0x1111111111111111111111111111111111111111'
const BLOCKED: Address = '0x2222222222222222222222222222222222222222'
const OTHERS_KEY = 'key_00000000000000000000000999'

test.for([
  ['create_key', {}, false],
  ['create_webhook', {}, false],
  ['rotate_key', { key_id: KEY_ID }, false],
  ['list_keys', {}, true],
  ['revoke_key', { key_id: KEY_ID }, true],
  ['delete_webhook', {}, true],
  ['patch_key', { key_id: KEY_ID, daily_limit_usd: '1', allowed_chains: [10] }, true],
  ['patch_key', { key_id: KEY_ID, daily_limit_usd: '6' }, false],
  ['patch_key', { key_id: KEY_ID, daily_limit_usd: '1', allowed_chains: [8453] }, false],
  ['patch_key', { key_id: OTHERS_KEY, daily_limit_usd: '1' }, false],
  ['put_address_rule', { address: ALLOWED, action: 'block' }, true],
  ['put_address_rule', { address: BLOCKED, action: 'allow' }, false],
  ['delete_address_rule', { address: ALLOWED }, true],
  ['delete_address_rule', { address: BLOCKED }, false],
  ['delete_address_rule', { address: `0x${'3'.repeat(40)}` }, false],
] as const)(
  'of the console, what only takes away or reads goes on: %s %j %s',
  async ([name, input, goesOn]) => {
    const handler = () => ({ ok: true as const, value: {} })
    // The handlers that are not called here are not needed.
    const handlers = { [name]: handler } as unknown as ConsoleHandlers
    const stopped = fault('WRITES_STOPPED', { reason: 'disk' })
    const guarded = stopConsoleWrites(handlers, () => stopped, records())
    const answer = await guarded[name]({ userId: USER_ID } as ConsoleContext, input as never)
    expect(answer.ok).toBe(goesOn)
  },
)
