import { expect, test } from 'vitest'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
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

const inBlock = (block: MinedIn | null, status: Transaction['status'] = 'confirmed') =>
  transaction(1, { status, attempts: [ATTEMPT], mined: block })

/** What a gas wallet says after a start: it signed before, and its block is deep enough by now. */
const confirmed: Command = {
  ...{ type: 'sponsor-update', txId: txIdOf(1), flight: 'ended', refusal: null, cancels: null },
  ...{ gas: inBlock(mined), gasWalletId: FIRST_GAS_WALLET, nowMs },
}

/** And where a reorg took that block. */
const inFlight: Command = { ...confirmed, flight: 'sent', gas: inBlock(null, 'broadcast') }

/** What was decided so far, once it is on disk. */
function recorded({ pending }: WalletWorld): Command[] {
  return pending.flatMap((effect) =>
    effect.type === 'tell-recorded' ? [{ ...effect, type: 'end-recorded' as const }] : [],
  )
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
  const [told] = recorded(world)
  if (told === undefined) throw new Error('nobody is told')
  await world.handle(told)
  expect(world.state.running.size).toBe(0)
  const record = world.reader.idempotency.byKey(LINEAGE_ID, 'once')
  expect(record?.txId).toBe(txIdOf(1))
})

test('a reorg that is told before the end of a call is on disk takes the call up again', async () => {
  const world = await openWallet(1_000n)
  await handOver(world)
  world.pending = []
  await world.together([confirmed, inFlight])
  expect(spentBy(world)).toMatchObject({ dayMicros: 400n, reservedMicros: 400n })
  expect(world.state.sponsored.get(txIdOf(1))?.phase).toBe('sent')
  // And once more, before what is said of the first end has come.
  const elsewhere = { ...confirmed, gas: inBlock({ ...mined, blockHash: '0x0c' }) }
  await world.together([elsewhere, ...recorded(world).slice(0, 1), inFlight])
  expect(world.state.sponsored.get(txIdOf(1))?.phase).toBe('sent')
  await world.handle({ ...confirmed, gas: inBlock({ ...mined, outcome: 'reverted' }, 'failed') })
  expect(world.reader.transactions.byId(txIdOf(1))?.status).toBe('failed')
  for (const command of recorded(world)) await world.handle(command)
  expect(world.state.unrecorded.size).toBe(0)
})

test('a swap by a quote that is forgotten is not refused for that while its first is under way', async () => {
  const world = await openWallet(1_000n)
  const notFound = { ok: false, fault: fault('NOT_FOUND') } as const
  const forgotten = (n: number, bodyHash = 'same') =>
    preparedSwap(n, 400n, {
      ...{ idempotency: { key: 'once', bodyHash }, isForgotten: true },
      ...{ quote: notFound, chainId: 0 },
    })
  await world.handle(forgotten(1), 1)
  expect(codeOf(world, 1)).toBe('NOT_FOUND')
  // Its account has yet to delegate, and the lane is not free for that.
  await world.handle({ ...named(2), delegated: false, chainNonce: null }, 2)
  await world.handle(forgotten(3), 3)
  await world.handle(forgotten(4, 'other'), 4)
  expect([3, 4].map((token) => codeOf(world, token))).toEqual([
    'IDEMPOTENCY_IN_PROGRESS',
    'IDEMPOTENCY_KEY_REUSED',
  ])
  expect(codeOf(world, 2)).toBeNull()
  expect(spentBy(world)).toMatchObject({ reservedMicros: 400n })
})

test('nor after a start that goes on with it', async () => {
  const world = await openWallet(1_000n)
  await handOver(world)
  world.restart()
  const quote = { ok: false, fault: fault('NOT_FOUND') } as const
  const idempotency = { key: 'once', bodyHash: 'same' }
  const said = { idempotency, quote, isForgotten: true, chainId: 0 } as const
  await world.handle(preparedSwap(2, 400n, said), 2)
  expect(codeOf(world, 2)).toBe('IDEMPOTENCY_IN_PROGRESS')
})

/** Null of what was not refused, or has no answer yet. */
function codeOf(world: WalletWorld, token: number): string | null {
  const result = world.replies.find((reply) => reply.token === token)?.result
  return result === undefined || result.ok ? null : result.fault.code
}
