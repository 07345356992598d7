import { beforeEach, describe, expect, test } from 'vitest'
import { executedAs } from '../../actors/sub-wallet/effects/prepare-send.js'
import type { SubWalletPorts } from '../../actors/sub-wallet/ports.js'
import { fault } from '../../src/errors/fault.js'
import { policyOf } from '../policy/random-policies.js'
import { WaitingWallet } from './waiting-wallet.js'
import { apiKey, LINEAGE_ID, txIdOf, wallet } from './wallet-fixtures.js'

const QUOTE = { lineageId: LINEAGE_ID, quoteId: 'quote_1' }
const ASKS = { name: 'ask', effect: 'require_approval', when: { operations: ['swap'] } }

let it: WaitingWallet

async function wallets(rules: readonly object[]): Promise<void> {
  it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const policy = policyOf({ default: 'allow', rules })
  await it.run({
    type: 'register-key',
    key: apiKey({ dailyLimitMicros: null, monthlyLimitMicros: null, policy }),
  })
}

beforeEach(() => wallets([]))

/** As the effect before the mailbox would find it in the store. */
function stored() {
  return executedAs({ reader: it.reader } as SubWalletPorts, it.state, { executes: QUOTE })
}

/** @param key of the caller; null: it sent none */
function execute(n: number, key: string | null = null) {
  const idempotency = key === null ? null : { key, bodyHash: key }
  return it.swap(n, 100n, { executes: QUOTE, idempotency, executed: stored() })
}

describe('a quote', () => {
  test.each([
    [null, null],
    ['a', null],
    [null, 'b'],
    ['a', 'b'],
  ] as const)(
    'is executed once, by whatever Idempotency-Keys (%s, then %s)',
    async (first, second) => {
      await execute(1, first)
      // It waits for the answer of the first.
      expect(await execute(2, second)).toBeUndefined()
      expect(it.intents()).toHaveLength(1)
      await it.signIntent(1)
      expect(await execute(3, second)).toBeUndefined()
      expect(it.jobs()).toHaveLength(1)
      expect(it.state.joined.get(txIdOf(1))).toHaveLength(2)
    },
  )

  test('is under way still after a restart, since its stored intent says so', async () => {
    await execute(1)
    await it.signIntent(1)
    it.restart()
    expect(await execute(2)).toBeUndefined()
    expect(it.state.joined.get(txIdOf(1))).toHaveLength(1)
  })

  test('may be executed after all where the first was refused', async () => {
    it.screening = fault('ADDRESS_BLOCKED')
    await execute(1)
    it.screening = null
    await execute(2)
    expect(it.intents().map(({ draft }) => draft.txId)).toEqual([txIdOf(2)])
  })

  test('that waits for approval is answered with its record, after a restart too', async () => {
    await wallets([ASKS])
    expect(await execute(1)).toMatchObject({ ok: true })
    const replayed = { ok: true, value: { replayed: true, tx: { txId: txIdOf(1) } } }
    expect(await execute(2, 'other')).toMatchObject(replayed)
    it.restart()
    expect(await execute(3)).toMatchObject(replayed)
    await it.decline(1)
    expect(await execute(4)).toMatchObject({ ok: true, value: { tx: { status: 'declined' } } })
  })
})
