import { describe, expect, test } from 'vitest'
import { REST_MS, sweepOnce } from '../../actors/sub-wallet/sweep-idempotency.js'
import { IDEMPOTENCY_KEPT_MS, IDEMPOTENCY_TTL_MS } from '../../src/domain/idempotency.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { NO_EVENTS } from '../../src/store/event-rows.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import {
  apiKey,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
  WALLET_ID,
} from '../actors/wallet-fixtures.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

const DAY_MS = 86_400_000

/** A send with a key, up to its stored bytes. */
async function send(world: WalletWorld, n: number, key: string, nowMs: number): Promise<void> {
  const txId = txIdOf(n)
  const nonce = n - 1
  const idempotency = { key, bodyHash: 'body' }
  await world.handle(preparedSend(n, 10n, { nowMs, idempotency }), n)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId, ...screened, nowMs })
  const bytes = { rawTransaction: '0x01', intentId: '0x01', signedAtMs: nowMs } as const
  await world.handle({
    type: 'signed',
    txId,
    nonce,
    signed: { txHash: `0x0${n}`, ...bytes },
    nowMs,
  })
  const mined = { txHash: `0x0${n}`, blockNumber: n, blockHash: `0x0${n}` } as const
  const fate = { outcome: 'success', feeWei: 0n } as const
  await world.handle({ type: 'confirmed', txId, mined: { ...mined, ...fate }, nowMs })
}

async function storeKeys(
  world: WalletWorld,
  count: number,
  createdAtMs: (n: number) => number,
): Promise<void> {
  const batch = new WriteBatch()
  for (let n = 0; n < count; n++) {
    const record = { bodyHash: 'body', txId: txIdOf(n), createdAtMs: createdAtMs(n) }
    batch.putIdempotency(LINEAGE_ID, `key-${n}`, record)
  }
  await applyRows(world.environment, batch.rows(world.environment, NO_EVENTS))
}

describe('what need not be remembered', () => {
  test('an Idempotency-Key is removed once it is older than it counts, and not before', async () => {
    const world = await openWallet(1_000n)
    await send(world, 1, 'first', START_MS)
    await send(world, 2, 'second', START_MS + 1)
    const told: Parameters<WalletWorld['handle']>[0][] = []
    const sweepAt = (nowMs: number) =>
      sweepOnce(
        {
          reader: world.reader,
          tell: (_, command) => told.push(command),
          verifiedNowMs: () => nowMs,
        },
        null,
      )
    expect(sweepAt(START_MS + IDEMPOTENCY_TTL_MS).next).toBeNull()
    expect(told).toEqual([])
    const nowMs = START_MS + IDEMPOTENCY_KEPT_MS
    sweepAt(nowMs)
    expect(told).toEqual([{ type: 'forget-idempotency', lineageId: LINEAGE_ID, keys: ['first'] }])
    for (const command of told) await world.handle(command)
    expect(world.reader.idempotency.byKey(LINEAGE_ID, 'first')).toBeUndefined()
    expect(world.reader.idempotency.byKey(LINEAGE_ID, 'second')).toBeDefined()
  })

  test('one that is being used again is kept', async () => {
    const world = await openWallet(1_000n)
    await send(world, 1, 'again', START_MS)
    const nowMs = START_MS + IDEMPOTENCY_KEPT_MS
    const idempotency = { key: 'again', bodyHash: 'body' }
    await world.handle(preparedSend(2, 10n, { nowMs, idempotency }), 2)
    const keys = ['again']
    await world.handle({ type: 'forget-idempotency', lineageId: LINEAGE_ID, keys })
    expect(world.reader.idempotency.byKey(LINEAGE_ID, 'again')).toBeDefined()
  })

  test('a look reads so many rows and goes on from there, to the end', async () => {
    const world = await openWallet(1_000n)
    const count = 1_200
    await storeKeys(world, count, () => START_MS)
    const found: string[] = []
    const ports = {
      reader: world.reader,
      tell: (_: unknown, command: { readonly keys: readonly string[] }) =>
        found.push(...command.keys),
      verifiedNowMs: () => START_MS + IDEMPOTENCY_KEPT_MS,
    }
    const sizes: number[] = []
    let { next } = sweepOnce(ports, null)
    sizes.push(found.length)
    while (next !== null) {
      next = sweepOnce(ports, next).next
      sizes.push(found.length)
    }
    expect(sizes).toEqual([500, 1_000, count])
    expect(new Set(found).size).toBe(count)
  })

  test('what is to be forgotten is found as fast as a thousand keys a second come', async () => {
    const world = await openWallet(1_000n)
    const count = 20_000
    const nowMs = START_MS + IDEMPOTENCY_KEPT_MS
    // In the order of their names the old lie among the young.
    await storeKeys(world, count, (n) => (n % 2 === 0 ? START_MS : nowMs))
    let found = 0
    const ports = {
      reader: world.reader,
      tell: (_: unknown, command: { readonly keys: readonly string[] }) => {
        found += command.keys.length
      },
      verifiedNowMs: () => nowMs,
    }
    let tookMs = 0
    let look = sweepOnce(ports, null)
    while (look.next !== null) {
      tookMs += look.restMs
      look = sweepOnce(ports, look.next)
    }
    expect(found).toBe(count / 2)
    expect(found / (tookMs / 1_000)).toBeGreaterThanOrEqual(1_000)
    const nothing = sweepOnce({ ...ports, verifiedNowMs: () => START_MS }, null)
    expect(nothing.restMs, 'where nothing is old').toBe(REST_MS)
  })

  test('spend of a lineage goes once no key is left and its windows have closed', async () => {
    const world = await openWallet(1_000n)
    await send(world, 1, 'first', START_MS)
    const register = (n: number, createdAtMs: number) => {
      const keyId = `key_0000000000000000000000000${n}` as KeyId
      const lineageId = keyId as string as LineageId
      const key = apiKey({ keyId, lineageId, secretHash: `0${n}`.repeat(32), createdAtMs })
      return world.handle({ type: 'register-key', key })
    }
    const stored = () =>
      world.reader.wallets.header(WALLET_ID)?.spend.map(({ lineageId }) => lineageId)
    const later = START_MS + 40 * DAY_MS
    await register(2, later)
    expect(stored()).toEqual([LINEAGE_ID])
    await world.handle({ type: 'revoke-key', keyId: KEY_ID, nowMs: START_MS })
    await register(3, START_MS + DAY_MS)
    expect(stored(), 'its month is open').toEqual([LINEAGE_ID])
    await register(4, later)
    expect(stored()).toEqual([])
    expect(world.loaded().spend.size).toBe(0)
  })
})
