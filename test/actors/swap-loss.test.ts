import { beforeEach, describe, expect, test } from 'vitest'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { Exchange } from '../../src/domain/exchange.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import { preparedSwap } from '../core/wallet-world.js'
import { policyOf } from '../policy/random-policies.js'
import { WaitingWallet } from './waiting-wallet.js'
import { apiKey, KEY_ID, LINEAGE_ID, START_MS, wallet } from './wallet-fixtures.js'

const CENT = { numerator: 1n, denominator: 100n }
const ASKS = { name: 'ask', effect: 'require_approval', when: { operations: ['swap'] } }

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
})

function hasKey(said: Partial<ApiKey> = {}) {
  const limits = { dailyLimitMicros: null, monthlyLimitMicros: null }
  return it.run({ type: 'register-key', key: apiKey({ ...limits, ...said }) })
}

/** Of which 98 units are sure to come, at a cent each. @param cents that go in */
function worth(cents: bigint): Exchange {
  return { netIn: cents, unitIn: CENT, unitOut: CENT }
}

/** @returns the refusal; null where the swap goes on */
async function refused(exchange: Exchange | null, keyId?: KeyId) {
  const { quote } = preparedSwap(1, 1_000_000n)
  if (!quote.ok || !quote.terms.ok) throw new Error('no quote')
  const value = { ...quote.terms.value, minOut: 98n }
  const quoted = { ...quote, offered: 100n, exchange, terms: { ok: true, value } as const }
  const swap = preparedSwap(1, 1_000_000n, { quote: quoted, nowMs: it.nowMs })
  const answer = await it.run(keyId === undefined ? swap : { ...swap, keyId })
  return answer?.ok === false ? answer.fault : null
}

describe('the least output of a swap', () => {
  test.each([
    ['within 5 % of what goes in, for a key without a policy', {}, 103n, null],
    ['one unit of loss past 5 %, for a key without a policy', {}, 104n, 'SWAP_LOSS_EXCEEDED'],
    [
      'the same, under a policy that says nothing of it',
      { policy: {} },
      104n,
      'SWAP_LOSS_EXCEEDED',
    ],
    [
      'the same, under one that bounds nothing',
      { policy: { max_swap_loss_bps: null } },
      104n,
      null,
    ],
    ['no more than goes in, under a bound of 0', { policy: { max_swap_loss_bps: 0 } }, 98n, null],
    ['less, under a bound of 0', { policy: { max_swap_loss_bps: 0 } }, 99n, 'SWAP_LOSS_EXCEEDED'],
  ] as const)(
    'is held to the bound of its key: %s',
    async (_, { policy }: { policy?: object }, cents, code) => {
      await hasKey(
        policy === undefined ? {} : { policy: policyOf({ default: 'allow', ...policy }) },
      )
      const why = await refused(worth(cents))
      expect(why?.code ?? null).toBe(code)
    },
  )

  test('is told with both sides in USD, and nothing stays reserved', async () => {
    await hasKey()
    expect(await refused(worth(200n))).toMatchObject({
      code: 'SWAP_LOSS_EXCEEDED',
      details: { value_in_usd: '1.00', value_out_usd: '0.98', max_loss_bps: 500 },
    })
    expect(it.reserved).toBe(0n)
  })

  /** In cents: what goes in, what is between, and what comes out. */
  test.each([
    ['each hop loses 5 %', 108n, 103n, 98n, null],
    ['the first hop loses more, and the second gives it back', 100n, 94n, 98n, 'first'],
    ['the second hop loses what the first gave too much', 100n, 120n, 98n, 'second'],
    ['both hops give too much', 10n, 50n, 98n, null],
  ] as const)('is held to the bound hop by hop: %s', async (_, paid, between, given, loses) => {
    await hasKey({ policy: policyOf({ default: 'allow' }) })
    const [first, second] = ['1', '2'].map((digit) => `0x${digit.repeat(40)}` as const)
    if (first === undefined || second === undefined) throw new Error('no tokens')
    const hops = [
      { tokenIn: first, tokenOut: second, exchange: worth(paid), amountOut: between },
      { tokenIn: second, tokenOut: first, exchange: worth(between), amountOut: given },
    ]
    // The whole of it loses nothing.
    const why = await refused({ ...worth(98n), hops })
    if (loses === null) expect(why).toBeNull()
    else {
      const hop = loses === 'first' ? [first, second] : [second, first]
      expect(why).toMatchObject({
        code: 'SWAP_LOSS_EXCEEDED',
        details: { max_loss_bps: 500, hop: { token_in: hop[0], token_out: hop[1] } },
      })
    }
    expect(it.reserved > 0n).toBe(loses === null)
  })

  test('needs a price, unless the key may hold what has none', async () => {
    await hasKey({ policy: policyOf({ default: 'allow', max_swap_loss_bps: null }) })
    expect(await refused(null)).toMatchObject({
      code: 'SWAP_LOSS_EXCEEDED',
      details: { value_out_usd: null, max_loss_bps: null },
    })
    it = new WaitingWallet()
    await it.run({ type: 'create-wallet', wallet })
    await hasKey({ unpricedAssets: 'allow' })
    expect(await refused(null)).toBeNull()
  })

  test('is held to the strictest of the keys above', async () => {
    const loose = policyOf({ default: 'allow', max_swap_loss_bps: null })
    await hasKey({ mayDelegate: true, policy: loose })
    const child = `key_${'9'.repeat(26)}` as KeyId
    const made = { lineageId: child as string as LineageId, parentLineageId: LINEAGE_ID }
    const ends = { endsAtMs: START_MS + 86_400_000, secretHash: 'child' }
    expect(await hasKey({ keyId: child, ...made, ...ends, policy: loose })).toMatchObject({
      ok: true,
    })
    const patch = { policy: policyOf({ default: 'allow', max_swap_loss_bps: 100 }) }
    const { nowMs } = it
    await it.run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs })
    expect((await refused(worth(100n), child))?.code).toBe('SWAP_LOSS_EXCEEDED')
    expect(await refused(worth(98n), child)).toBeNull()
  })
})

describe('a swap that people approved', () => {
  beforeEach(async () => {
    await hasKey({ policy: policyOf({ default: 'allow', rules: [ASKS] }) })
    expect(await it.swap(1, 100n)).toMatchObject({ ok: true })
  })

  async function approvedAt(now: WaitingWallet['now']) {
    it.now = now
    await it.approve(1)
    await it.settle()
  }

  test('is dropped where prices moved so that the offer of now loses too much', async () => {
    await approvedAt({ exchange: worth(104n) })
    expect(it.record(1)).toMatchObject({ status: 'dropped', error: { code: 'SWAP_LOSS_EXCEEDED' } })
    expect(it.intents()).toEqual([])
  })

  test('is asked about again where the offer of now keeps the bound and the approved minimum does not', async () => {
    // 104 are offered, of which 101 are sure; the 98 of then would lose more than 5 % by now.
    await approvedAt({ offered: 104n, exchange: worth(105n) })
    expect(it.record(1)).toMatchObject({ status: 'awaiting_approval' })
    expect(it.approval(1)).toMatchObject({ status: 'pending', askedAgain: 'quote' })
    expect(it.intents()).toEqual([])
  })

  test('is signed as it was approved while that keeps the bound', async () => {
    await approvedAt({ offered: 104n, exchange: worth(103n) })
    expect(it.intents()).toHaveLength(1)
  })
})
