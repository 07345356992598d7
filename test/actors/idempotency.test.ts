import { expect, test } from 'vitest'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { PreparedSend } from '../../actors/sub-wallet/core/messages.js'
import { emptyState, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import { apiKey, preparedSend, START_MS, txIdOf, WALLET_ID, wallet } from './wallet-fixtures.js'

const HASH = '0xaa' as const
const named = (n: number, bodyHash = 'same') =>
  preparedSend(n, 5n, { idempotency: { key: 'once', bodyHash } })

function readyWallet(): SubWalletState {
  const state = emptyState(WALLET_ID)
  decide(state, { type: 'create-wallet', wallet }, null)
  decide(state, { type: 'register-key', key: apiKey() }, null)
  return state
}

/** Brings the first send to its signed bytes. */
function signFirst(state: SubWalletState): void {
  const nowMs = START_MS
  const txId = txIdOf(1)
  decide(state, named(1), 1)
  decide(
    state,
    { type: 'screened', txId, refusal: null, screenedAgainst: [], requoted: null, nowMs },
    null,
  )
  const signed = { txHash: HASH, rawTransaction: HASH, intentId: HASH, signedAtMs: nowMs }
  decide(state, { type: 'signed', txId, nonce: 0, signed, nowMs }, null)
}

function answerOf(state: SubWalletState, command: PreparedSend) {
  const { replies, effects } = decide(state, command, 2)
  expect(effects.filter(({ type }) => type === 'screen' || type === 'sign')).toEqual([])
  return replies[0]?.result
}

/** Prepared before the first was stored, decided after: the store could not tell of it. */
test('a request that was prepared before its first was signed is not sent again', () => {
  const state = readyWallet()
  signFirst(state)
  expect(answerOf(state, named(2))).toMatchObject({
    ok: false,
    fault: { code: 'IDEMPOTENCY_IN_PROGRESS' },
  })
  const outcome = { kind: 'accepted' } as const
  decide(
    state,
    {
      type: 'broadcast-outcome',
      txId: txIdOf(1),
      txHash: HASH,
      outcome,
      blockNumber: 1,
      nowMs: START_MS,
    },
    null,
  )
  expect(answerOf(state, named(3))).toMatchObject({
    ok: true,
    value: { replayed: true, tx: { txId: txIdOf(1) } },
  })
  expect(answerOf(state, named(4, 'other'))).toMatchObject({
    ok: false,
    fault: { code: 'IDEMPOTENCY_KEY_REUSED' },
  })
})
