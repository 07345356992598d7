import { beforeEach, describe, expect, test } from 'vitest'
import { laneOf, restoredEntry } from '../../actors/account/core/state.js'
import { decide } from '../../actors/gas-wallet/core/decide.js'
import type { GasAccountState, GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { gasWalletId, gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { Hex } from '../../src/domain/ids.js'
import type { GasJob } from '../../src/domain/sponsorship.js'
import {
  ADDRESS,
  CHAIN_ID,
  LINEAGE_ID,
  preparedSend,
  START_MS,
  transaction,
  txIdOf,
  WALLET_ID,
} from '../actors/wallet-fixtures.js'
import { openWallet, spentBy, type WalletWorld } from './wallet-world.js'

const txId = txIdOf(1)
const nowMs = START_MS
const OWN: Hex = '0x01'
const CANCELLATION: Hex = '0x02'
const bytes = (txHash: Hex) =>
  ({ txHash, rawTransaction: txHash, intentId: txHash, signedAtMs: nowMs }) as const

let world: WalletWorld
let blockNumber: number

beforeEach(async () => {
  blockNumber = 1
  world = await openWallet(1_000n)
  await world.handle(preparedSend(1, 50n), 1)
  const screened = { refusal: null, screenedAgainst: [], requoted: null } as const
  await world.handle({ type: 'screened', txId, ...screened, nowMs })
  await world.handle({ type: 'signed', txId, nonce: 0, signed: bytes(OWN), nowMs })
})

async function refused(txHash: Hex): Promise<void> {
  const outcome = { kind: 'refused' } as const
  await world.handle({ type: 'broadcast-outcome', txId, txHash, outcome, blockNumber, nowMs })
}

async function block(): Promise<readonly string[]> {
  blockNumber++
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  const { effects } = await world.handle({
    ...{ type: 'head', chainId: CHAIN_ID, blockNumber, fees, gasPriceWei: 1n },
    ...{ chainNonce: 0, finalBlock: null, nowMs },
  })
  return effects.map((effect) => (effect.type === 'replace' ? effect.purpose : effect.type))
}

describe('a send that every endpoint refuses', () => {
  test('is answered as signed, and keeps its nonce and its spend, after a restart as well', async () => {
    await refused(OWN)
    expect(world.replies).toMatchObject([{ token: 1, result: { ok: true } }])
    for (const state of [world.state, world.loaded()]) {
      expect(state.open.get(txId)?.tx).toMatchObject({ status: 'signed', nonce: 0 })
      expect(laneOf(state, CHAIN_ID)).toMatchObject({ nextNonce: 1, gaps: [] })
    }
    expect(spentBy(world).reservedMicros).toBeGreaterThan(0n)
    world.restart()
    expect(await block()).toEqual(['broadcast'])
  })

  test('goes out again at each block, and is cancelled at its nonce after five refusals', async () => {
    for (let refusal = 1; refusal < 5; refusal++) {
      await refused(OWN)
      expect(await block()).toEqual(['broadcast'])
    }
    await refused(OWN)
    expect(await block()).toEqual(['cancel'])
  })

  test('is not bid for again where its cancellation is refused, which goes out as it is', async () => {
    for (let refusal = 0; refusal < 5; refusal++) await refused(OWN)
    await block()
    const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }
    const replaced = { purpose: 'cancel', fees, signed: bytes(CANCELLATION) } as const
    await world.handle({ type: 'replacement-signed', txId, nonce: 0, ...replaced, nowMs })
    for (let refusal = 0; refusal < 10; refusal++) {
      await refused(CANCELLATION)
      expect(await block()).toEqual(['broadcast'])
    }
    expect(world.state.open.get(txId)?.tx.attempts).toHaveLength(2)
  })

  test.each([
    [OWN, 'confirmed'],
    [CANCELLATION, 'dropped'],
  ] as const)('ends by what the chain mined: %s is %s', async (txHash, status) => {
    for (let refusal = 0; refusal < 5; refusal++) await refused(OWN)
    await block()
    const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }
    const replaced = { purpose: 'cancel', fees, signed: bytes(CANCELLATION) } as const
    await world.handle({ type: 'replacement-signed', txId, nonce: 0, ...replaced, nowMs })
    world.restart()
    const where = { blockNumber, blockHash: '0x0b' } as const
    const mined = { ...where, txHash, outcome: 'success', feeWei: 1n } as const
    await world.handle({ type: 'confirmed', txId, mined, nowMs })
    const shown = { shownMicros: 50n, unvalued: null } as const
    await world.handle({ type: 'receipt-valued', txId, blockHash: '0x0b', ...shown, nowMs })
    expect(world.reader.transactions.byId(txId)?.status).toBe(status)
    expect(spentBy(world).reservedMicros).toBe(0n)
    expect(spentBy(world).dayMicros >= 50n).toBe(status === 'confirmed')
  })
})

test('a job that every endpoint refuses stays with its gas wallet, which says so at once', () => {
  const id = gasWalletId(CHAIN_ID, 0)
  const account: GasAccountState = {
    ...{ accountId: gasWalletKey(id, 0), lanes: new Map(), drafts: new Map() },
    ...{ open: new Map(), ended: new Map(), endsRead: new Set() },
    wallet: { walletId: gasWalletKey(id, 0), address: ADDRESS, epoch: 1 },
  }
  const job: GasJob = {
    ...{ txId, subWalletId: WALLET_ID, chainId: CHAIN_ID, account: ADDRESS, router: ADDRESS },
    ...{ lineageId: LINEAGE_ID, calldata: '0x', authorization: null, cancels: null },
  }
  const state: GasWalletState = {
    ...{ gasWalletId: id, chainId: CHAIN_ID, account, jobs: new Map([[txId, job]]) },
    ...{ faults: new Map(), openers: [], freezingOf: () => null },
  }
  const attempts = [{ ...bytes(OWN), maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }]
  const entry = restoredEntry(transaction(1, { nonce: 0, attempts }), 'sending')
  entry.maybeBroadcast = false
  account.open.set(txId, entry)
  laneOf(account, CHAIN_ID).flight.push(txId)
  const outcome = { kind: 'refused' } as const
  const answered = { txId, txHash: OWN, outcome, blockNumber, nowMs } as const
  const { effects } = decide(state, { type: 'broadcast-outcome', ...answered }, null)
  expect(effects).toMatchObject([
    { type: 'tell', update: { flight: 'indeterminate', gas: { status: 'signed' }, refusal: null } },
  ])
  expect(account.open.has(txId)).toBe(true)
})
