import { describe, expect, test } from 'vitest'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { Address, KeyId, LineageId } from '../../src/domain/ids.js'
import { dayEndMs, utcDay } from '../../src/domain/spend.js'
import {
  apiKey,
  CHAIN_ID,
  GAS_MICROS,
  KEY_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
} from '../actors/wallet-fixtures.js'
import { policyOf, transferData, USDC } from '../policy/random-policies.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

/** What the calls of a key count on the key that made it, where their windows or rules differ. */
const CAP = 1_000n
const PAYEE: Address = '0x2222222222222222222222222222222222222222'
const CHILD = 'key_0000000000000000000000000C'
const MIDNIGHT_MS = dayEndMs(utcDay(START_MS))
const MINUTE_MS = 60_000

/** A wallet with a key, and one that it made before it was narrowed itself. */
async function withChild(maker: Partial<ApiKey>, child: Partial<ApiKey>): Promise<WalletWorld> {
  const world = await openWallet(CAP)
  const above = { dailyLimitMicros: null, monthlyLimitMicros: null, mayDelegate: true }
  const key = apiKey({
    ...{ ...above, secretHash: 'c'.repeat(64), parentLineageId: LINEAGE_ID },
    ...{ keyId: CHILD as KeyId, lineageId: CHILD as LineageId, ...child },
  })
  await world.handle({ type: 'register-key', key: apiKey(above) })
  await world.handle({ type: 'register-key', key })
  await world.handle({ type: 'register-key', key: apiKey({ ...above, ...maker }) })
  expect(world.state.keys.get(key.keyId)).toBeDefined()
  return world
}

type Said = Parameters<typeof preparedSend>[2]

/** @returns the code of the refusal; null: it is let through to its screening */
async function ask(world: WalletWorld, n: number, micros: bigint, said: Said) {
  await world.handle(preparedSend(n, micros, said), n)
  const result = world.replies.find(({ token }) => token === n)?.result
  return result?.ok === false ? result.fault.code : null
}

async function signed(world: WalletWorld, n: number, nonce: number, nowMs: number): Promise<void> {
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId: txIdOf(n), ...screened, nowMs })
  const hash = `0x0${n}` as const
  const bytes = { txHash: hash, rawTransaction: hash, intentId: hash, signedAtMs: nowMs }
  await world.handle({ type: 'signed', txId: txIdOf(n), nonce, signed: bytes, nowMs })
}

const byChild = { keyId: CHILD as KeyId }

describe('where the clock steps back over midnight', () => {
  const [before, after] = [MIDNIGHT_MS - MINUTE_MS, MIDNIGHT_MS + 1]

  test.each([
    ['while it is being signed', false],
    ['once it is signed', true],
  ])('a call of a key counts in the window of the key that made it, %s', async (_, isSigned) => {
    const world = await withChild({ dailyLimitMicros: CAP }, {})
    expect(await ask(world, 1, 600n, { keyId: KEY_ID, nowMs: after })).toBeNull()
    await signed(world, 1, 0, after)
    const left = CAP - 600n - 2n * GAS_MICROS
    expect(await ask(world, 2, left, { ...byChild, nowMs: before })).toBeNull()
    if (isSigned) await signed(world, 2, 1, before)
    expect(await ask(world, 3, 0n, { ...byChild, nowMs: before })).toBe('LIMIT_EXCEEDED')
    if (isSigned) world.restart()
    expect(await ask(world, 4, 0n, { ...byChild, nowMs: after })).toBe('LIMIT_EXCEEDED')
  })
})

/** Gas limit × fee of a prepared send: ceilings of native coin count it for each call. */
const GAS_WEI = 21_000n

const ceiling = (token: string, per: 'day' | 'month') => ({
  default: 'allow',
  ceilings: [
    {
      chain_id: CHAIN_ID,
      token,
      per,
      amount: String(token === 'native' ? 1_000n + 2n * GAS_WEI : 1_000n),
    },
  ],
})
/** Moves units of both. */
const both = (native: bigint, units: bigint) => ({
  ...{ to: USDC, value: native, data: transferData(PAYEE, units) },
})

describe('ceilings of a key and of the key that made it', () => {
  test.each([
    ['before it is signed', false],
    ['once it is signed, also after a restart', true],
  ])('each count their own token of one call, %s', async (_, isSigned) => {
    const world = await withChild(
      { policy: policyOf(ceiling('native', 'day')) },
      { policy: policyOf(ceiling(USDC, 'day')) },
    )
    expect(await ask(world, 1, 1n, { ...byChild, ...both(600n, 100n) })).toBeNull()
    if (isSigned) {
      await signed(world, 1, 0, START_MS)
      world.restart()
    }
    expect(await ask(world, 2, 1n, { ...byChild, ...both(401n, 1n) })).toBe('POLICY_DENIED')
    expect(await ask(world, 3, 1n, { ...byChild, ...both(1n, 901n) })).toBe('POLICY_DENIED')
    expect(await ask(world, 4, 1n, { ...byChild, ...both(400n, 900n) })).toBeNull()
  })

  test('of a month count what was let through the day before and is not signed yet', async () => {
    const world = await withChild({ policy: policyOf(ceiling('native', 'month')) }, {})
    const value = (units: bigint, nowMs: number) => ({ ...byChild, value: units, nowMs })
    expect(await ask(world, 1, 1n, value(600n, MIDNIGHT_MS - 1))).toBeNull()
    expect(await ask(world, 2, 1n, value(401n, MIDNIGHT_MS + 1))).toBe('POLICY_DENIED')
    expect(await ask(world, 3, 1n, value(400n, MIDNIGHT_MS + 1))).toBeNull()
  })
})

describe('where a key and the key that made it both ask people', () => {
  const asking = (needed: number, delay_seconds: number, expires_seconds: number) => {
    const when = { to: [PAYEE] }
    const approvals = { needed, expires_seconds }
    const rule = { name: 'ask', effect: 'require_approval', when, approvals, delay_seconds }
    return policyOf({ default: 'allow', rules: [rule] })
  }

  test.each([
    ['the maker asks more people', asking(1, 120, 3_600), asking(3, 60, 7_200)],
    ['the key asks more people', asking(3, 60, 7_200), asking(1, 120, 3_600)],
  ])('the call waits for what satisfies each: %s', async (_, own, above) => {
    const world = await withChild({ policy: above }, { policy: own })
    world.state.waiting.isOpen = true
    expect(await ask(world, 1, 1n, { ...byChild, to: PAYEE })).toBeNull()
    expect(world.state.drafts.get(txIdOf(1))?.draft.asks).toMatchObject({
      ...{ needed: 3, delaySeconds: 120, expiresSeconds: 3_600 },
    })
  })
})
