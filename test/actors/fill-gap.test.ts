import { describe, expect, test } from 'vitest'
import { openGap } from '../../actors/account/core/lane-nonces.js'
import type { HeadCommand } from '../../actors/account/core/messages.js'
import { laneOf, restoredEntry } from '../../actors/account/core/state.js'
import { decide } from '../../actors/sub-wallet/core/decide.js'
import type { Command, Event } from '../../actors/sub-wallet/core/messages.js'
import { emptyState } from '../../actors/sub-wallet/core/state.js'
import { loadState, recordEvents } from '../../actors/sub-wallet/record.js'
import type { SubWalletId, TxId } from '../../src/domain/ids.js'
import { fault } from '../../src/errors/fault.js'
import { openRealStore } from './real-store.js'
import {
  ATTEMPT,
  apiKey,
  CHAIN_ID,
  KEY_ID,
  preparedSend,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
  wallet,
} from './wallet-fixtures.js'

const GAP = 4

/** A block comes to a wallet whose lane a node began so far above what the next one says. */
function headOver(subWalletId: SubWalletId, hole: number) {
  const state = emptyState(subWalletId)
  state.wallet = { ...wallet, subWalletId }
  state.keys.set(KEY_ID, apiKey({ subWalletId }))
  const above = transaction(1, { subWalletId, nonce: GAP + hole, attempts: [ATTEMPT] })
  state.open.set(above.txId, restoredEntry(above, 'sent'))
  const lane = laneOf(state, CHAIN_ID)
  lane.nextNonce = GAP + hole + 1
  lane.ownFrom = GAP + hole
  lane.flight.push(above.txId)
  const { effects } = decide(state, headAt(GAP), null)
  return { state, lane, signing: effects.find((effect) => effect.type === 'sign') }
}

function headAt(chainNonce: number, nowMs = START_MS): HeadCommand {
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
  const block = { blockNumber: 9, chainNonce, fees, gasPriceWei: 1n, finalBlock: null }
  return { type: 'head', chainId: CHAIN_ID, ...block, nowMs }
}

/** The id of what closes the gap below a wallet's only transaction. */
function idOfFilling(subWalletId: SubWalletId): TxId {
  const { signing } = headOver(subWalletId, 1)
  if (signing?.type !== 'sign') throw new Error('the gap is not being closed')
  expect(signing.nonce).toBe(GAP)
  return signing.draft.txId
}

test('one block that opens the same gap in many wallets gives each filling an id of its own', () => {
  const wallets = Array.from(
    { length: 50 },
    (_, n) => `sw_${String(n).padStart(26, '0')}` as SubWalletId,
  )
  expect(new Set(wallets.map(idOfFilling)).size).toBe(wallets.length)
})

test.each([65, 2 ** 50])(
  'a hole of %i nonces that a node claims is no hole: none of it is filled, nor all of it listed',
  (hole) => {
    const { lane, signing } = headOver(WALLET_ID, hole)
    expect(signing).toBeUndefined()
    expect(lane.gaps).toEqual(Array.from({ length: 64 }, (_, n) => GAP + n))
  },
)

test('a hole as wide as four windows is closed', () => {
  expect(headOver(WALLET_ID, 64).signing).toMatchObject({ nonce: GAP })
})

/** A wallet without a daily limit, and what it wrote of its sends. */
class Sends {
  readonly state = emptyState(WALLET_ID)
  readonly events: Event[] = []

  constructor() {
    this.tell({ type: 'create-wallet', wallet })
    this.tell({ type: 'register-key', key: apiKey({ dailyLimitMicros: null }) })
  }

  tell(command: Command) {
    const decision = decide(this.state, command, null)
    this.events.push(...decision.events)
    return decision
  }

  draft(n: number): void {
    this.tell(preparedSend(n, 5n))
    const clean = { refusal: null, screenedAgainst: [], requoted: null }
    this.tell({ type: 'screened', txId: txIdOf(n), ...clean, nowMs: START_MS })
  }

  sign(n: number): void {
    const [txId, nowMs, hash] = [txIdOf(n), START_MS, hashOf(n)]
    const signed = { txHash: hash, rawTransaction: hash, intentId: hash, signedAtMs: nowMs }
    this.tell({ type: 'signed', txId, nonce: this.nonceOf(n), signed, nowMs })
  }

  failToSign(n: number): void {
    const refusal = fault('COSIGNER_UNAVAILABLE')
    const [txId, nonce] = [txIdOf(n), this.nonceOf(n)]
    this.tell({ type: 'sign-failed', txId, nonce, fault: refusal, nowMs: START_MS })
  }

  refuse(n: number): void {
    const unaffordable = fault('INSUFFICIENT_FUNDS', { reason: 'insufficient-funds' })
    this.#answer(n, { kind: 'rejected', fault: unaffordable })
  }

  take(n: number): void {
    this.#answer(n, { kind: 'accepted' })
  }

  nonceOf(n: number): number {
    return this.state.drafts.get(txIdOf(n))?.nonce ?? -1
  }

  /** The nonce at which its lane goes on here, and after a restart. */
  async nextNonces(): Promise<(number | null)[]> {
    const store = await openRealStore()
    try {
      await store.write((writer) => recordEvents(writer, this.state, this.events))
      const stored = loadState(store.reader, WALLET_ID)
      return [this.state, stored].map((state) => laneOf(state, CHAIN_ID).nextNonce)
    } finally {
      await store.close()
    }
  }

  #answer(n: number, outcome: Extract<Command, { type: 'broadcast-outcome' }>['outcome']): void {
    const about = { txId: txIdOf(n), txHash: hashOf(n), blockNumber: 1, nowMs: START_MS }
    this.tell({ type: 'broadcast-outcome', ...about, outcome })
  }
}

/** A wallet of which a node took the last of so many sends, after it had refused the others. */
function refusedBelow(refused: number): Sends {
  const sends = new Sends()
  for (let n = 0; n <= refused; n++) {
    sends.draft(n)
    sends.sign(n)
  }
  for (let n = 0; n < refused; n++) sends.refuse(n)
  sends.take(refused)
  return sends
}

function hashOf(n: number): `0x${string}` {
  return `0x${n.toString(16).padStart(64, '0')}`
}

describe.each([64, 65, 200])(
  'a hole that %i refused sends left below one that a node took',
  (n) => {
    test('is being closed with the next block', () => {
      const { effects } = refusedBelow(n).tell(headAt(0))
      expect(effects.filter(({ type }) => type === 'sign')).toMatchObject([{ nonce: 0 }])
    })

    test('is being closed after a restart as well', async () => {
      const { state, events } = refusedBelow(n)
      const store = await openRealStore()
      try {
        await store.write((writer) => recordEvents(writer, state, events))
        const { effects } = decide(loadState(store.reader, WALLET_ID), headAt(0), null)
        expect(effects.filter(({ type }) => type === 'sign')).toMatchObject([{ nonce: 0 }])
      } finally {
        await store.close()
      }
    })
  },
)

test('a hole that a node claims below many nonces freed here is closed, and first', () => {
  const refused = refusedBelow(100)
  const lane = laneOf(refused.state, CHAIN_ID)
  // One of those freed is not known to be.
  lane.gaps = lane.gaps.filter((nonce) => nonce !== 0)
  const { effects } = refused.tell(headAt(0))
  expect(effects.filter(({ type }) => type === 'sign')).toMatchObject([{ nonce: 0 }])
})

test('a restart does not make a hole that a node claims one of our own', async () => {
  const wide = 2 ** 50
  const before = headOver(WALLET_ID, wide)
  const store = await openRealStore()
  try {
    const events: Event[] = [{ type: 'wallet-created', wallet, requestId: null }]
    await store.write((writer) => recordEvents(writer, before.state, events))
    const after = loadState(store.reader, WALLET_ID)
    expect(laneOf(after, CHAIN_ID)).toMatchObject({
      nextNonce: GAP + wide + 1,
      ownFrom: GAP + wide,
    })
  } finally {
    await store.close()
  }
})

describe('a nonce freed while another was being signed above it', () => {
  const above = () => {
    const sends = new Sends()
    sends.draft(0)
    sends.sign(0)
    sends.draft(1)
    sends.refuse(0)
    return sends
  }

  test('is the next one of a start in between, which knows nothing of what was being signed', async () => {
    expect(await above().nextNonces()).toEqual([1, 0])
  })

  test('is handed out again once nothing came of what was being signed', async () => {
    const sends = above()
    sends.failToSign(1)
    expect(await sends.nextNonces()).toEqual([0, 0])
    sends.draft(2)
    expect(sends.nonceOf(2)).toBe(0)
  })

  test('is the next one of a start in between also while it is being filled', async () => {
    const sends = above()
    sends.draft(2)
    expect(sends.nonceOf(2)).toBe(0)
    expect(await sends.nextNonces()).toEqual([1, 0])
  })

  test.each([
    [2, 1],
    [1, 2],
  ])('is handed out again once nothing came of %i, and then of %i', async (first, second) => {
    const sends = above()
    sends.draft(2)
    sends.failToSign(first)
    sends.failToSign(second)
    expect(await sends.nextNonces()).toEqual([0, 0])
    expect(laneOf(sends.state, CHAIN_ID).gaps).toEqual([])
  })

  test('is a gap as before where the other was signed', async () => {
    const sends = above()
    sends.sign(1)
    expect(await sends.nextNonces()).toEqual([2, 2])
    expect(laneOf(sends.state, CHAIN_ID).gaps).toEqual([0])
  })
})

describe('a gap below what a block has used', () => {
  const mined = (sends: Sends, n: number) => {
    const place = { blockNumber: 9, blockHash: hashOf(9), outcome: 'success', feeWei: 1n } as const
    const [txId, txHash] = [txIdOf(n), hashOf(n)]
    sends.tell({ type: 'mined', txId, mined: { ...place, txHash }, nowMs: START_MS })
  }
  const lane = ({ state }: Sends) => laneOf(state, CHAIN_ID)

  test('is none, so that nothing waits for it', () => {
    const sends = refusedBelow(1)
    expect(lane(sends).gaps).toEqual([0])
    mined(sends, 1)
    expect(openGap(lane(sends))).toBeUndefined()
    expect(sends.tell(headAt(2)).effects).toEqual([])
    // A reorg takes the block away, and with it what had used the nonce.
    sends.tell({ type: 'unmined', txId: txIdOf(1), nowMs: START_MS })
    expect(sends.tell(headAt(0)).effects).toContainEqual(
      expect.objectContaining({ type: 'sign', nonce: 0 }),
    )
  })

  test('is none either once nothing came of what was to close it', () => {
    const sends = refusedBelow(1)
    const [closing] = sends.tell(headAt(0)).effects.filter(({ type }) => type === 'sign')
    if (closing?.type !== 'sign') throw new Error('the gap is not being closed')
    mined(sends, 1)
    const { txId } = closing.draft
    const refusal = fault('COSIGNER_UNAVAILABLE')
    sends.tell({ type: 'sign-failed', txId, nonce: 0, fault: refusal, nowMs: START_MS })
    expect(lane(sends)).toMatchObject({ filling: [], nextNonce: 2 })
    expect(openGap(lane(sends))).toBeUndefined()
  })

  test('is one again where a reorg takes that back while it is to be closed, and nothing comes of it', () => {
    const sends = refusedBelow(1)
    const [closing] = sends.tell(headAt(0)).effects.filter(({ type }) => type === 'sign')
    if (closing?.type !== 'sign') throw new Error('the gap is not being closed')
    mined(sends, 1)
    sends.tell({ type: 'unmined', txId: txIdOf(1), nowMs: START_MS })
    const { txId } = closing.draft
    const refusal = fault('COSIGNER_UNAVAILABLE')
    sends.tell({ type: 'sign-failed', txId, nonce: 0, fault: refusal, nowMs: START_MS })
    expect(openGap(lane(sends))).toBe(0)
  })
})
