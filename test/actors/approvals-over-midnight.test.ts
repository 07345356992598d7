import { expect, test } from 'vitest'
import type { MinedIn } from '../../src/domain/transaction.js'
import { policyOf } from '../policy/random-policies.js'
import { WaitingWallet } from './waiting-wallet.js'
import {
  ADDRESS,
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  txIdOf,
  wallet,
} from './wallet-fixtures.js'

const DAY_SECONDS = 86_400
const MIDNIGHT_MS = (Math.floor(START_MS / (DAY_SECONDS * 1_000)) + 1) * DAY_SECONDS * 1_000
const REVERTED: MinedIn = {
  ...{ txHash: ATTEMPT.txHash, blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'reverted', feeWei: 1n },
}

test('units of a call that was let through before midnight and signed after come back once', async () => {
  const it = new WaitingWallet()
  await it.run({ type: 'create-wallet', wallet })
  const policy = policyOf({
    default: 'allow',
    rules: [
      {
        ...{ name: 'ask', effect: 'require_approval', when: { to: [ADDRESS] } },
        approvals: { needed: 1, expires_seconds: DAY_SECONDS },
      },
    ],
    ceilings: [{ chain_id: CHAIN_ID, token: 'native', per: 'day', amount: '43000' }],
  })
  const uncapped = { dailyLimitMicros: null, monthlyLimitMicros: null }
  await it.run({ type: 'register-key', key: apiKey({ ...uncapped, policy }) })
  const units = () => it.state.policyLedgers.get(LINEAGE_ID)?.units.map((one) => one.dayUnits)
  const sign = (n: number) => {
    const [asked] = it.asked().slice(-1)
    const { nowMs } = it
    const hash = `0x0${n}` as const
    const signed = { ...ATTEMPT, txHash: hash, signedAtMs: nowMs }
    return it.run({ type: 'signed', txId: txIdOf(n), nonce: asked?.nonce ?? -1, signed, nowMs })
  }

  await it.run({ ...preparedSend(1, 600n, { to: ADDRESS }), nowMs: it.nowMs })
  await it.settle()
  it.nowMs = MIDNIGHT_MS - 1_000
  await it.approve(1)
  await it.settle()
  it.nowMs = MIDNIGHT_MS + 1_000
  await sign(1)
  await it.run({ ...preparedSend(2, 400n), nowMs: it.nowMs })
  await it.settle()
  await sign(2)
  const mined = { ...REVERTED, txHash: '0x01' } as const
  await it.run({ type: 'confirmed', txId: txIdOf(1), mined, nowMs: it.nowMs })
  expect(it.record(1)).toMatchObject({ status: 'failed', spentMicros: 1n })
  // The other call keeps its own value and gas, 21,000 gas at 1 wei, in the day.
  expect(units()).toEqual([21_400n])
})
