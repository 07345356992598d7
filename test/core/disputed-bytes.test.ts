import { beforeEach, describe, expect, test } from 'vitest'
import type { Outcome } from '../../actors/account/core/messages.js'
import { laneOf } from '../../actors/account/core/state.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { Hex } from '../../src/domain/ids.js'
import type { MinedIn } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { CHAIN_ID, preparedSend, START_MS, txIdOf } from '../actors/wallet-fixtures.js'
import { openWallet, spentBy, type WalletWorld } from './wallet-world.js'

/** Which bytes of a send may still land, and what no word about others ends. */
const nowMs = START_MS
const txId = txIdOf(1)
const [FIRST, SECOND, THIRD]: readonly Hex[] = ['0x01', '0x02', '0x03']
const NO = fault('CHAIN_REJECTED')
const REJECTED = { kind: 'rejected', fault: NO } as const

let world: WalletWorld

const bytes = (txHash: Hex) =>
  ({ txHash, rawTransaction: txHash, intentId: txHash, signedAtMs: nowMs }) as const

async function signedAt(n: number, nonce: number, txHash: Hex, maxFeePerGas = 1n): Promise<void> {
  const asked = preparedSend(n, 50n)
  if (!asked.quote.ok) throw new Error('a send without a quote')
  const fees = { maxFeePerGas, maxPriorityFeePerGas: 1n }
  await world.handle({ ...asked, quote: { ...asked.quote, fees } }, n)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId: txIdOf(n), ...screened, nowMs })
  await world.handle({ type: 'signed', txId: txIdOf(n), nonce, signed: bytes(txHash), nowMs })
}

function said(txHash: Hex, outcome: Outcome) {
  return world.handle({ type: 'broadcast-outcome', txId, txHash, outcome, blockNumber: 1, nowMs })
}

function replaced(txHash: Hex, purpose: 'bump' | 'cancel', of = txId, nonce = 0) {
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 2n }
  const signed = bytes(txHash)
  return world.handle({
    ...{ type: 'replacement-signed', txId: of, nonce, purpose, fees, signed, nowMs },
  })
}

function minedAs(type: 'mined' | 'confirmed', txHash: Hex, blockHash: Hex): Command {
  const mined: MinedIn = { txHash, blockNumber: 5, blockHash, outcome: 'success', feeWei: 1n }
  return { type, txId, mined, nowMs }
}

const head = (chainNonce: number, fees = { maxFeePerGas: 90n, maxPriorityFeePerGas: 40n }) => ({
  ...({ type: 'head', chainId: CHAIN_ID, blockNumber: 9, chainNonce, fees } as const),
  ...{ gasPriceWei: 1n, finalBlock: null, nowMs },
})

const open = () => world.state.open.get(txId)

function expectKept(): void {
  expect(open()?.tx).toMatchObject({ status: expect.stringMatching(/signed|broadcast/), nonce: 0 })
  expect(laneOf(world.state, CHAIN_ID)).toMatchObject({ nextNonce: 1, gaps: [] })
  expect(spentBy(world).reservedMicros).toBeGreaterThan(0n)
}

beforeEach(async () => {
  world = await openWallet(1_000n)
  await signedAt(1, 0, FIRST ?? '0x01')
  world.pending = []
})

describe('a refusal of the bytes of a send', () => {
  test('ends it where they are the only ones, and no node may hold them', async () => {
    await said('0x01', REJECTED)
    expect(open()).toBeUndefined()
    expect(spentBy(world).reservedMicros).toBe(0n)
  })

  test('ends nothing once those before it were on their way without an answer', async () => {
    await replaced(SECOND ?? '0x02', 'bump')
    await said('0x02', REJECTED)
    expectKept()
  })

  test('ends nothing where they are a cancellation, though no node may hold those of its call', async () => {
    await said('0x01', { kind: 'indeterminate', maybeBroadcast: false })
    expect(open()?.maybeBroadcast).toBe(false)
    await replaced(SECOND ?? '0x02', 'cancel')
    await said('0x02', REJECTED)
    expectKept()
  })

  test('ends nothing after a start, which does not know who was handed them', async () => {
    world.restart()
    await world.handle(head(0))
    await said('0x01', REJECTED)
    expectKept()
  })

  test('ends nothing where it comes late, for bytes that were replaced', async () => {
    await said('0x01', { kind: 'accepted' })
    await replaced(SECOND ?? '0x02', 'bump')
    const before = open()?.refusals
    await said('0x01', REJECTED)
    expectKept()
    expect(open()?.refusals).toBe(before)
    expect(open()?.flight).toBe('sending')
  })
})

describe('once a block has a send', () => {
  test('a bid that was being signed is not taken up', async () => {
    await said('0x01', { kind: 'accepted' })
    await world.handle(minedAs('mined', '0x01', '0x0b'))
    world.pending = []
    await replaced(SECOND ?? '0x02', 'bump')
    expect(open()?.tx.attempts).toHaveLength(1)
    expect(world.pending.filter(({ type }) => type === 'broadcast')).toEqual([])
  })

  test('it ends in the block that is final, though it was seen in another before', async () => {
    await said('0x01', { kind: 'accepted' })
    await world.handle(minedAs('mined', '0x01', '0x0b'))
    await world.handle(minedAs('confirmed', '0x01', '0x0c'))
    await world.handle({
      ...{ type: 'receipt-valued', txId, blockHash: '0x0c', shownMicros: 50n, unvalued: null },
      nowMs,
    })
    expect(world.reader.transactions.byId(txId)).toMatchObject({
      ...{ status: 'confirmed', mined: { blockHash: '0x0c' } },
    })
  })
})

test('a node that lags makes no nonce look free that a block has', async () => {
  await said('0x01', { kind: 'accepted' })
  await world.handle(minedAs('confirmed', '0x01', '0x0b'))
  await world.handle({
    ...{ type: 'receipt-valued', txId, blockHash: '0x0b', shownMicros: 50n, unvalued: null },
    nowMs,
  })
  expect(open()).toBeUndefined()
  await world.handle(head(0))
  expect(laneOf(world.state, CHAIN_ID)).toMatchObject({ nextNonce: 1, gaps: [] })
  expect(laneOf(world.loaded(), CHAIN_ID).nextNonce).toBe(1)
})

describe('a cancelled send', () => {
  test('whose nonce went to a stranger is not signed again at another', async () => {
    await replaced(SECOND ?? '0x02', 'cancel')
    world.pending = []
    await said('0x02', { kind: 'nonce-lost', chainNonce: 1 })
    expect(world.pending.filter(({ type }) => type === 'sign')).toEqual([])
    expect(world.reader.transactions.byId(txId)).toMatchObject({ status: 'dropped' })
    expect(spentBy(world).reservedMicros).toBe(0n)
  })

  test('that is stuck is outbid by a cancellation', async () => {
    await replaced(SECOND ?? '0x02', 'cancel')
    await said('0x02', { kind: 'underpriced' })
    world.pending = []
    await world.handle(head(0))
    expect(world.pending).toMatchObject([{ type: 'replace', purpose: 'cancel' }])
  })
})

/** A send waits above a nonce that nothing of ours has. */
async function waitsAboveHole(maxFeePerGas: bigint): Promise<void> {
  await signedAt(2, 1, THIRD ?? '0x03', maxFeePerGas)
  await said('0x01', REJECTED)
  expect(laneOf(world.state, CHAIN_ID).gaps).toEqual([0])
  world.pending = []
}

describe('what closes a hole', () => {
  test.each([
    ['no higher than the call above was first signed for', 7n, 7n, 7n],
    ['by the market where that asks for less', 200n, 90n, 40n],
  ])('bids %s', async (_, above, maxFeePerGas, maxPriorityFeePerGas) => {
    await waitsAboveHole(above)
    await world.handle(head(0))
    const [asked] = world.pending.filter((effect) => effect.type === 'sign')
    expect(asked).toMatchObject({ nonce: 0, draft: { maxFeePerGas, maxPriorityFeePerGas } })
  })

  test('is neither signed nor refused while what waits above is frozen', async () => {
    await waitsAboveHole(7n)
    const wallet = { scope: 'wallet', sinceMs: nowMs, reason: 'lost', by: 'user' } as const
    const wallets = new Map([[world.state.subWalletId, wallet]])
    world.state.freezes = { instance: null, user: null, wallets, lineages: new Map() }
    const { effects } = await world.handle(head(0))
    expect(effects.map(({ type }) => type)).not.toContain('sign')
    expect(effects.map(({ type }) => type)).not.toContain('refused')
    world.state.freezes = null
    await world.handle(head(0))
    expect(world.pending.filter(({ type }) => type === 'sign')).toHaveLength(1)
  })
})
