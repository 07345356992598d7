import { describe, expect, test } from 'vitest'
import type { AddressRulesCommand } from '../../actors/address-rules/core/decide.js'
import { createAddressRulesShell } from '../../actors/address-rules/shell.js'
import { createKeyUseShell } from '../../actors/key-use/shell.js'
import { createSharePriceShell } from '../../actors/share-prices/shell.js'
import type { Address, KeyId } from '../../src/domain/ids.js'
import { createReader } from '../../src/store/reader.js'
import { createMemoryEnvironment } from '../actors/memory-environment.js'
import { START_MS, USER_ID } from '../actors/wallet-fixtures.js'
import { seededRandom } from '../faults/random.js'
import { driveMany } from './drive-many.js'
import { mustEqual, World } from './world.js'

function addressOf(n: number): Address {
  return `0x${n.toString(16).padStart(40, '0')}`
}

describe('actors that keep little', () => {
  test("a user's address rules are what a restart would load", async () => {
    await driveMany(async (seed) => {
      const random = seededRandom(seed)
      const shellOn = (reader: ReturnType<typeof createReader>) =>
        createAddressRulesShell({ reader, rulesChanged: () => undefined })
      const { decide, record } = shellOn(createReader(createMemoryEnvironment()))
      const world = new World({ load: (reader) => shellOn(reader).load(USER_ID), decide, record })
      const commandAt = (nowMs: number): AddressRulesCommand => {
        const address = addressOf(random.integer(20))
        if (random.chance(0.4)) return { type: 'delete', address, requestId: 'request', nowMs }
        const action = random.pick(['block', 'allow'] as const)
        const rule = { address, action, note: null, createdAtMs: nowMs }
        return { type: 'put', rule, limit: 10, requestId: 'request' }
      }
      let nowMs = START_MS
      return {
        trail: world.trail,
        async step() {
          await world.handle(commandAt(++nowMs), 1)
          mustEqual('rules', world.state, world.loaded())
          if (random.chance(0.1)) world.restart()
        },
      }
    })
  })

  test('uses of keys are stored as they were last reported', async () => {
    await driveMany(async (seed) => {
      const random = seededRandom(seed)
      const { decide, record } = createKeyUseShell()
      const world = new World({ load: () => null, decide, record })
      const used = new Map<KeyId, number>()
      let atMs = START_MS
      return {
        trail: world.trail,
        async step() {
          atMs++
          const keys = [1, 2].map(() => `key_${random.integer(5)}` as KeyId)
          for (const keyId of keys) used.set(keyId, atMs)
          const uses = keys.map((keyId) => ({ keyId, atMs }))
          await world.handle({ type: 'keys-used', uses })
          const stored = [...used.keys()].map((id) => [id, world.reader.keys.lastUsedAtMs(id)])
          mustEqual('uses', [...used], stored)
        },
      }
    })
  })

  test("what is told of a vault's shares takes the place of what was stored of it", async () => {
    const { decide, record } = createSharePriceShell()
    const world = new World({ load: () => null, decide, record })
    const type = 'share-prices-sampled'
    const [first, second] = [1n, 2n].map((sharePrice) => ({ sharePrice, atMs: START_MS }))
    for (const sample of [first, second]) {
      const samples = sample === undefined ? [] : [sample]
      await world.together(['1:a', '1:b'].map((vaultKey) => ({ type, vaultKey, samples })))
      expect(new Map(world.reader.markets.sharePrices())).toEqual(
        new Map([
          ['1:a', samples],
          ['1:b', samples],
        ]),
      )
    }
  })
})
