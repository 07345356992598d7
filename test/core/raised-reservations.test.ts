import { expect, test } from 'vitest'
import { reserveOnPath } from '../../actors/sub-wallet/core/path-spend.js'
import { reservationFor } from '../../actors/sub-wallet/core/replacement-spend.js'
import { dayEndMs, utcDay, utcMonth } from '../../src/domain/spend.js'
import { ATTEMPT, START_MS, transaction } from '../actors/wallet-fixtures.js'
import { openWallet } from './wallet-world.js'

const nowMs = START_MS
const VALUE = 50n
/** At which a hundred million gas, a wei each, cost a micro-dollar. */
const PRICED = { nativePrice: 10n ** 12n, nativePriceDecimals: 8 }

const bidOf = (fee: bigint) => ({ ...ATTEMPT, maxFeePerGas: fee })

test.each([
  ['in the order in which they were made', [10n, 20n]],
  ['where a block had the first one, at the nonce that it was given up for', [20n, 20n, 10n]],
])('a higher bid holds all that it costs beyond the first, %s', async (_, fees) => {
  const { state } = await openWallet(1_000n)
  const tx = transaction(1, {
    gasLimit: 100_000_000n,
    attempts: fees.map(bidOf),
    valuation: { ...PRICED, valueMicros: VALUE, gasMicros: 10n },
    reservation: { micros: VALUE + 20n, day: utcDay(nowMs), month: utcMonth(nowMs) },
  })
  reserveOnPath(state, tx.lineageId, tx.reservation, nowMs)
  const { txId, nonce } = tx
  const signed = { txHash: '0x09', rawTransaction: '0x09', intentId: '0x09' } as const
  const raised = reservationFor(state, tx, {
    ...{ type: 'replacement-signed', txId, nonce, purpose: 'bump', nowMs },
    ...{ fees: { maxFeePerGas: 30n, maxPriorityFeePerGas: 1n } },
    signed: { ...signed, signedAtMs: nowMs },
  })
  expect(raised?.micros).toBe(VALUE + 30n)
})

test('a bid that is made the day after counts its call whole in that day, against the cap of it', async () => {
  const { state } = await openWallet(100n)
  const tx = transaction(1, {
    gasLimit: 100_000_000n,
    attempts: [bidOf(10n)],
    valuation: { ...PRICED, valueMicros: VALUE, gasMicros: 10n },
    reservation: { micros: VALUE + 10n, day: utcDay(nowMs), month: utcMonth(nowMs) },
  })
  reserveOnPath(state, tx.lineageId, tx.reservation, nowMs)
  const tomorrowMs = dayEndMs(utcDay(nowMs)) + 1
  const [day, month] = [utcDay(tomorrowMs), utcMonth(tomorrowMs)]
  const { txId, nonce } = tx
  const signed = { txHash: '0x09', rawTransaction: '0x09', intentId: '0x09' } as const
  const bid = (maxFeePerGas: bigint) =>
    reservationFor(state, tx, {
      ...{ type: 'replacement-signed', txId, nonce, purpose: 'bump', nowMs: tomorrowMs },
      ...{ fees: { maxFeePerGas, maxPriorityFeePerGas: 1n } },
      signed: { ...signed, signedAtMs: tomorrowMs },
    })
  expect(bid(20n)).toEqual({ micros: VALUE + 20n, day, month })
  // What was spent since leaves room for the whole call at that fee, and for no wei more.
  reserveOnPath(state, tx.lineageId, { micros: 30n, day, month }, tomorrowMs)
  expect(bid(20n)).toEqual({ micros: VALUE + 20n, day, month })
  expect(bid(21n)).toBeNull()
})
