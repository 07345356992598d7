import { describe, expect, test } from 'vitest'
import type { AddressRule } from '../../src/domain/address-rule.js'
import type { Address, KeyId, UserId } from '../../src/domain/ids.js'
import { type Fault, fault } from '../../src/errors/fault.js'
import { type ConsoleStops, stopConsoleWrites } from '../../src/operations/console-writes.js'
import type { ConsoleContext, ConsoleHandlers } from '../../src/operations/context.js'
import { apiKey, KEY_ID, USER_ID } from '../actors/wallet-fixtures.js'

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

const GOES_ON: ConsoleStops = {
  everything: () => null,
  whatWrites: () => null,
  whatGives: () => null,
}
const STOPPED = fault('WRITES_STOPPED')

/** @param meanwhile what happens while the operation is done */
async function ask(
  name: keyof ConsoleHandlers,
  input: object,
  stops: Partial<ConsoleStops>,
  meanwhile: () => void = () => {},
) {
  const handler = () => {
    meanwhile()
    return { ok: true as const, value: {} }
  }
  // The handlers that are not called here are not needed.
  const handlers = { [name]: handler } as unknown as ConsoleHandlers
  const guarded = stopConsoleWrites(handlers, { ...GOES_ON, ...stops }, records())
  return guarded[name]({ userId: USER_ID } as ConsoleContext, input as never)
}

const TAKES_AWAY = [
  ['list_keys', {}],
  ['revoke_key', { key_id: KEY_ID }],
  ['delete_webhook', {}],
  ['patch_key', { key_id: KEY_ID, daily_limit_usd: '1', allowed_chains: [10] }],
  ['put_address_rule', { address: ALLOWED, action: 'block' }],
  ['delete_address_rule', { address: ALLOWED }],
] as const
const GIVES = [
  ['create_key', {}],
  ['rotate_key', { key_id: KEY_ID }],
  ['patch_key', { key_id: KEY_ID, daily_limit_usd: '6' }],
  ['patch_key', { key_id: KEY_ID, daily_limit_usd: '1', allowed_chains: [8453] }],
  ['patch_key', { key_id: OTHERS_KEY, daily_limit_usd: '1' }],
  ['put_address_rule', { address: BLOCKED, action: 'allow' }],
  ['delete_address_rule', { address: BLOCKED }],
  ['delete_address_rule', { address: `0x${'3'.repeat(40)}` }],
  ['revoke_allowances', {}],
] as const
const WRITES = [
  ['create_webhook', {}],
  ['create_wallet', {}],
] as const

describe('of the console, while the disk is low', () => {
  const stops = { whatWrites: () => STOPPED }
  test.for(TAKES_AWAY)('what only takes away or reads goes on: %s %j', async ([name, input]) => {
    expect((await ask(name, input, stops)).ok).toBe(true)
  })
  test.for([...GIVES, ...WRITES])('all else is refused: %s %j', async ([name, input]) => {
    expect((await ask(name, input, stops)).ok).toBe(false)
  })
})

describe('of the console, while the clock is not borne out', () => {
  const stops = { whatGives: () => STOPPED }
  test.for([...TAKES_AWAY, ...WRITES])('what gives nobody more goes on: %s %j', async (call) => {
    const [name, input] = call
    expect((await ask(name, input, stops)).ok).toBe(true)
  })
  test.for(GIVES)(
    'what enlarges, lasts for a time or moves value is refused: %s %j',
    async (call) => {
      const [name, input] = call
      expect((await ask(name, input, stops)).ok).toBe(false)
    },
  )
})

describe('of the console of a service that another start has taken over from', () => {
  const taken = fault('COSIGNER_UNAVAILABLE', { reason: 'fenced' })
  test.for([...GIVES, ...WRITES, ...TAKES_AWAY.slice(1)])(
    'nothing is said to be done: %s %j',
    async ([name, input]) => {
      const before = await ask(name, input, { everything: () => taken })
      expect(before).toEqual({ ok: false, fault: taken })
      let since: Fault | null = null
      const meanwhile = () => {
        since = taken
      }
      const during = await ask(name, input, { everything: () => since }, meanwhile)
      expect(during).toEqual({ ok: false, fault: taken })
    },
  )
  test('reads go on', async () => {
    expect((await ask('list_keys', {}, { everything: () => taken })).ok).toBe(true)
  })
})
