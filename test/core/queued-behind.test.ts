import { expect, test } from 'vitest'
import { encodeAnswer } from '../../actors/sub-wallet/send-reply.js'
import { preparedSend, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { openWallet, type WalletWorld } from './wallet-world.js'

/** Signs a send of an account with code, of which nodes take one transaction at a time. */
async function send(world: WalletWorld, n: number): Promise<void> {
  const txId = txIdOf(n)
  const nowMs = START_MS
  const prepared = preparedSend(n, 50n)
  if (!prepared.quote.ok) throw new Error('it is quoted')
  await world.handle({ ...prepared, quote: { ...prepared.quote, accountHasCode: true } }, n)
  await world.handle({
    ...{ type: 'screened', txId, refusal: null, screenedAgainst: [], requoted: null, nowMs },
  })
  const hash = `0x0${n}` as const
  const signed = { txHash: hash, rawTransaction: hash, intentId: hash, signedAtMs: nowMs }
  await world.handle({ type: 'signed', txId, nonce: n - 1, signed, nowMs })
}

function answerOf(world: WalletWorld, token: number) {
  const result = world.replies.find((reply) => reply.token === token)?.result
  if (result === undefined) return null
  const presented = encodeAnswer(result, () => null)
  if (!presented.ok) throw new Error(presented.fault.code)
  const [, , , , status, json] = presented.value as readonly unknown[]
  return { status, record: JSON.parse(String(json)) as Readonly<Record<string, unknown>> }
}

test('a send that has to wait for another one says for which', async () => {
  const world = await openWallet(2_000n)
  for (const n of [1, 2, 3]) await send(world, n)
  // The first is with a node that has not answered yet.
  expect(answerOf(world, 1)).toBeNull()
  for (const n of [2, 3]) {
    expect(answerOf(world, n)).toMatchObject({
      status: 202,
      record: { tx_id: txIdOf(n), status: 'signed', queued_behind: txIdOf(n - 1) },
    })
  }
})

test('a send that no node took waits for none, and does not say so', async () => {
  const world = await openWallet(2_000n)
  await send(world, 1)
  const outcome = { kind: 'indeterminate', maybeBroadcast: true } as const
  const answer = { type: 'broadcast-outcome', txId: txIdOf(1), txHash: '0x01', outcome } as const
  await world.handle({ ...answer, blockNumber: null, nowMs: START_MS })
  const said = answerOf(world, 1)
  expect(said).toMatchObject({ status: 202, record: { status: 'signed' } })
  expect(said?.record).not.toHaveProperty('queued_behind')
})
