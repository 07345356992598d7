import { beforeEach, describe, expect, test } from 'vitest'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { KeyId, LineageId } from '../../src/domain/ids.js'
import { policyOf } from '../policy/random-policies.js'
import { ALICE, BOB, quoteOf, WaitingWallet } from './waiting-wallet.js'
import { apiKey, KEY_ID, LINEAGE_ID, preparedSend, txIdOf, wallet } from './wallet-fixtures.js'

const MAKER = 'key_00000000000000000000000009' as KeyId
const MAKER_LINEAGE = MAKER as string as LineageId
const CAROL = `aut_${'c'.repeat(32)}`
const UNLIMITED = { dailyLimitMicros: null, monthlyLimitMicros: null }

let it: WaitingWallet

beforeEach(async () => {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
})

/** A policy under which so many people have to approve each call. */
function needing(needed: number): ApiKey['policy'] {
  const approvals = { needed, expires_seconds: 3_600 }
  const rule = { name: 'ask', effect: 'require_approval', when: {}, approvals }
  return policyOf({ default: 'allow', rules: [rule] })
}

/** The maker of the key that calls, and that key. */
async function keysWith(ofMaker: Partial<ApiKey>, ofKey: Partial<ApiKey> = {}): Promise<void> {
  const made = { keyId: MAKER, lineageId: MAKER_LINEAGE, secretHash: 'cc'.repeat(32) }
  const maker = apiKey({ ...UNLIMITED, mayDelegate: true, ...made, ...ofMaker })
  await it.run({ type: 'register-key', key: maker })
  const key = apiKey({
    ...UNLIMITED,
    policy: maker.policy,
    parentLineageId: MAKER_LINEAGE,
    ...ofKey,
  })
  expect(await it.run({ type: 'register-key', key })).toMatchObject({ ok: true })
}

const GROWN: Readonly<Record<string, () => Promise<void>>> = {
  'its key': async () => {
    const patch = { policy: needing(3) }
    await it.run({ type: 'patch-key', keyId: KEY_ID, patch, claimId: null, nowMs: it.nowMs })
  },
  'the key that made its own': async () => {
    const patch = { policy: needing(3) }
    await it.run({ type: 'patch-key', keyId: MAKER, patch, claimId: null, nowMs: it.nowMs })
  },
}

const CALLS = {
  send: { begin: () => it.send(1, 100n), asked: () => it.asked().length },
  swap: { begin: () => it.swap(1, 100n), asked: () => it.intents().length },
} as const

const ROWS = Object.entries(GROWN).flatMap(([of, grow]) =>
  Object.entries(CALLS).map(([kind, call]) => [kind, of, call, grow] as const),
)

describe.each(ROWS)(
  'a %s that waits while the policy of %s comes to ask for more people',
  (...row) => {
    const [, , { begin, asked }, grow] = row

    async function say(authorizerId: string): Promise<void> {
      await it.approve(1, authorizerId)
      await it.settle()
    }

    test('is signed once as many approved it as are asked for by then', async () => {
      await keysWith({ policy: needing(1) })
      expect(await begin()).toMatchObject({ ok: true })
      await grow()
      await say(ALICE)
      expect(asked()).toBe(0)
      expect(it.approval(1)).toMatchObject({
        ...{ status: 'pending', askedAgain: 'policy', needed: 3, decisions: [] },
      })
      expect(it.record(1)).toMatchObject({ status: 'awaiting_approval', approval: { needed: 3 } })
      await say(ALICE)
      await say(ALICE)
      await say(BOB)
      expect(asked()).toBe(0)
      await say(CAROL)
      expect(asked()).toBe(1)
    })

    test('is not signed by what people said before, also after a restart', async () => {
      await keysWith({ policy: needing(2) })
      await begin()
      await say(ALICE)
      await grow()
      it.restart()
      await it.resume()
      await say(BOB)
      expect(asked()).toBe(0)
      expect(it.approval(1)).toMatchObject({ status: 'pending', needed: 3 })
      await say(CAROL)
      expect(asked()).toBe(0)
    })
  },
)

describe('a call of something without a price', () => {
  const unpriced = { ...quoteOf(100n), unpriced: true }
  const prepared = () => ({ ...preparedSend(1, 100n), nowMs: it.nowMs })
  const PATHS = [
    ['allow', 'allow', true],
    ['allow', 'deny', false],
    ['deny', 'deny', false],
  ] as const

  test.each(PATHS)('of a key with %2$s, made by one with %1$s', async (ofMaker, ofKey, isLet) => {
    await keysWith({ unpricedAssets: ofMaker }, { unpricedAssets: ofKey })
    await it.run({ ...prepared(), quote: unpriced })
    await it.settle({ quote: unpriced })
    expect(it.asked()).toHaveLength(isLet ? 1 : 0)
    if (!isLet) expect(it.reserved).toBe(0n)
  })

  test('is let through no more where the maker of its key allows it no more', async () => {
    await keysWith({ unpricedAssets: 'allow' }, { unpricedAssets: 'allow' })
    const patch = { unpricedAssets: 'deny' } as const
    await it.run({ type: 'patch-key', keyId: MAKER, patch, claimId: null, nowMs: it.nowMs })
    // By the maker's word alone: the key's own says what it said.
    const own = [...it.state.heads.values()].find(({ lineageId }) => lineageId === LINEAGE_ID)
    expect(own?.unpricedAssets).toBe('allow')
    const refused = await it.run({ ...prepared(), quote: unpriced })
    expect(refused).toMatchObject({ ok: false, fault: { code: 'PRICE_UNAVAILABLE' } })
  })

  test('is dropped where it was approved and the maker of its key allows it no more', async () => {
    await keysWith({ unpricedAssets: 'allow', policy: needing(1) }, { unpricedAssets: 'allow' })
    await it.send(1, 100n, { quote: unpriced })
    expect(it.approval(1)).toMatchObject({ status: 'pending' })
    const patch = { unpricedAssets: 'deny' } as const
    await it.run({ type: 'patch-key', keyId: MAKER, patch, claimId: null, nowMs: it.nowMs })
    await it.approve(1)
    await it.settle({ quote: unpriced })
    expect(it.asked()).toEqual([])
    // What has no price now may have one later: it is tried again until it expires.
    expect(it.record(1)?.status).toBe('awaiting_approval')
    await it.due(3_600_000)
    expect(it.record(1)).toMatchObject({ txId: txIdOf(1), status: 'expired' })
    expect(it.reserved).toBe(0n)
  })
})
