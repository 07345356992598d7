import { describe, expect, test } from 'vitest'
import { countersOf } from '../../actors/sub-wallet/core/state.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import {
  apiKey,
  CHAIN_ID,
  KEY_ID,
  preparedSend,
  START_MS,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

/** The key that its user made, the one that it made, and the one that this made, which sends. */
const NAMES = ['root', 'maker', 'worker'] as const
type Name = (typeof NAMES)[number]
const KEYS: Readonly<Record<Name, KeyId>> = {
  root: KEY_ID,
  maker: 'key_00000000000000000000000002' as KeyId,
  worker: 'key_00000000000000000000000003' as KeyId,
}
const lineageOf = (name: Name) => KEYS[name] as string as LineageId

const nowMs = START_MS
/** With so much gas each wei of the fee is a micro-dollar. */
const GAS_LIMIT = 100_000n
const FEE = 10n
const VALUE = 50n
const OTHER_VALUE = 20n
/** Both calls with their gas, and what is left for higher fees. */
const LEFT = 40n
const CAP = VALUE + FEE + (OTHER_VALUE + FEE) + LEFT
const txId = txIdOf(1)

type Limit = 'dailyLimitMicros' | 'monthlyLimitMicros'

/** A call of the worker is stuck, and the capped key itself has another one out. */
async function stuck(capped: Name, limit: Limit): Promise<WalletWorld> {
  const world = await openWallet(0n)
  let caps: Partial<ApiKey> = { dailyLimitMicros: null, monthlyLimitMicros: null }
  for (const [at, name] of NAMES.entries()) {
    const above = NAMES[at - 1]
    // A key gives no more than it has: those below have the same cap, of which they use less.
    if (name === capped) caps = { ...caps, [limit]: CAP }
    const made: Partial<ApiKey> =
      above === undefined
        ? {}
        : { parentLineageId: lineageOf(above), secretHash: `${at}0`.repeat(32) }
    const of = { keyId: KEYS[name], lineageId: lineageOf(name), mayDelegate: true }
    await world.handle({ type: 'register-key', key: apiKey({ ...of, ...caps, ...made }) })
  }
  await send(world, 1, 'worker', VALUE)
  await send(world, 2, capped, OTHER_VALUE)
  return world
}

async function send(world: WalletWorld, n: number, by: Name, micros: bigint): Promise<void> {
  const { quote, ...asked } = preparedSend(n, micros, { keyId: KEYS[by], nowMs })
  if (!quote.ok) throw new Error('no quote')
  const fees = { maxFeePerGas: FEE, maxPriorityFeePerGas: 1n }
  await world.handle({ ...asked, quote: { ...quote, gasLimit: GAS_LIMIT, fees } }, n)
  const of = { txId: txIdOf(n), nowMs }
  const clean = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', ...of, ...clean })
  const [txHash, rawTransaction, intentId] = [`0x0${n}`, '0x01', '0x01'] as const
  const signed = { txHash, rawTransaction, intentId, signedAtMs: nowMs } as const
  await world.handle({ type: 'signed', ...of, nonce: n - 1, signed })
  const outcome = { kind: 'accepted' } as const
  await world.handle({ type: 'broadcast-outcome', ...of, txHash, outcome, blockNumber: 10 })
}

/** Blocks go by in which its fee is too low. @returns the highest fee that may be bid, wei */
async function bidAskedFor(world: WalletWorld): Promise<bigint | null | undefined> {
  world.pending = []
  for (const blockNumber of [11, 12, 13]) {
    await world.handle({
      ...{ type: 'head', chainId: CHAIN_ID, blockNumber, chainNonce: null, finalBlock: null },
      ...{ fees: null, gasPriceWei: 1_000n, nowMs },
    })
  }
  const asked = world.pending.flatMap((effect) => (effect.type === 'replace' ? [effect] : []))
  return asked.find(({ tx }) => tx.txId === txId)?.feeCapWei
}

function bid(world: WalletWorld, maxFeePerGas: bigint, purpose: 'bump' | 'cancel' = 'bump') {
  const signed = { txHash: '0x09', rawTransaction: '0x09', intentId: '0x09' } as const
  return world.handle({
    ...{ type: 'replacement-signed', txId, nonce: 0, purpose, nowMs },
    fees: { maxFeePerGas, maxPriorityFeePerGas: 1n },
    signed: { ...signed, signedAtMs: nowMs },
  })
}

const usedBy = (world: WalletWorld, name: Name) => {
  const { dayMicros, monthMicros } = countersOf(world.state, lineageOf(name), nowMs)
  return { dayMicros, monthMicros }
}
const feesOf = (world: WalletWorld) =>
  world.state.open.get(txId)?.tx.attempts.map(({ maxFeePerGas }) => maxFeePerGas)

const ROWS = NAMES.flatMap((name) =>
  (['dailyLimitMicros', 'monthlyLimitMicros'] as const).map((limit) => [name, limit] as const),
)

describe.each(ROWS)('where the %s has a %s', (capped, limit) => {
  test('a higher fee is bid up to what is left of it', async () => {
    const world = await stuck(capped, limit)
    expect(await bidAskedFor(world)).toBe(FEE + LEFT)
  })

  test('a bid that it pays for is taken, and counts on every key of the path', async () => {
    const world = await stuck(capped, limit)
    await bid(world, FEE + LEFT)
    expect(feesOf(world)).toEqual([FEE, FEE + LEFT])
    expect(usedBy(world, capped)).toEqual({ dayMicros: CAP, monthMicros: CAP })
    for (const name of NAMES) {
      expect(usedBy(world, name).dayMicros).toBeGreaterThanOrEqual(VALUE + FEE + LEFT)
    }
  })

  test('a bid that passes it by a micro-dollar is not taken, and counts nowhere', async () => {
    const world = await stuck(capped, limit)
    const before = NAMES.map((name) => usedBy(world, name))
    await bid(world, FEE + LEFT + 1n)
    expect(feesOf(world)).toEqual([FEE])
    expect(NAMES.map((name) => usedBy(world, name))).toEqual(before)
  })
})
