import { expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { ATTEMPT, LINEAGE_ID, START_MS, transaction, txIdOf } from '../actors/wallet-fixtures.js'
import {
  FIRST_GAS_WALLET,
  INTENT_SECONDS,
  openWallet,
  preparedSwap,
  spentBy,
  type WalletWorld,
} from './wallet-world.js'

const nowMs = START_MS
/** With one Idempotency-Key, and prepared while the store told of none. */
const named = (n: number) =>
  preparedSwap(n, 400n, { idempotency: { key: 'once', bodyHash: 'same' } })

const mined: MinedIn = {
  ...{ txHash: ATTEMPT.txHash, blockNumber: 1, blockHash: '0x0b' },
  ...{ outcome: 'success', feeWei: 1n },
}

/** What a gas wallet says after a start: it signed before, and its block is deep enough by now. */
const confirmed: Command = {
  ...{ type: 'sponsor-update', txId: txIdOf(1), flight: 'ended', refusal: null, cancels: null },
  gas: transaction(1, { status: 'confirmed', attempts: [ATTEMPT], mined }),
  ...{ gasWalletId: FIRST_GAS_WALLET, nowMs },
}

async function handOver(world: WalletWorld): Promise<void> {
  const txId = txIdOf(1)
  await world.handle(named(1), 1)
  const clean = { refusal: null, screenedAgainst: [], nowMs }
  await world.handle({ type: 'sponsored-screened', txId, ...clean })
  const deadlineSeconds = nowMs / 1_000 + INTENT_SECONDS
  const signed = { calldata: '0x', authorization: null, deadlineSeconds } as const
  await world.handle({ type: 'intent-signed', txId, signed, nowMs })
}

test('a sponsored call that is sent and over at once is not made again before that is on disk', async () => {
  const world = await openWallet(1_000n)
  await handOver(world)
  world.restart()
  world.pending = []
  await world.together([confirmed, named(2)])
  expect(spentBy(world)).toMatchObject({ dayMicros: 400n, reservedMicros: 0n })
  expect([...world.state.sponsored.keys()]).toEqual([])
  // Once it is: the store answers, and what is remembered of it goes.
  const [told] = world.pending
  if (told?.type !== 'tell-recorded') throw new Error(`${told?.type} is pending alone`)
  await world.handle({ ...told, type: 'end-recorded' })
  expect(world.state.running.size).toBe(0)
  const record = world.reader.idempotency.byKey(LINEAGE_ID, 'once')
  expect(record?.txId).toBe(txIdOf(1))
})
