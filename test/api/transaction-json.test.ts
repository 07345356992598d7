import fc from 'fast-check'
import { expect, test } from 'vitest'
import { transactionJson } from '../../src/api/transaction-json.js'
import { transactionView } from '../../src/api/transaction-view.js'
import type { Hex } from '../../src/domain/ids.js'
import { isoTime } from '../../src/domain/iso-time.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { ADDRESS, ATTEMPT, transaction } from '../actors/wallet-fixtures.js'

const LAST_TIME_MS = Date.UTC(9999, 11, 31)
const time = fc.integer({ min: 0, max: LAST_TIME_MS })
const hash = fc.constantFrom<Hex>('0x01', '0x02', '0x03')
const OTHER = '0x2222222222222222222222222222222222222222'
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

const anyTransaction = fc
  .record({
    chainId: fc.nat(),
    kind: fc.constantFrom<Transaction['kind']>('send', 'swap', 'defi_deposit', 'gas_swap'),
    status: fc.constantFrom<Transaction['status']>('signed', 'broadcast', 'confirmed', 'dropped'),
    value: amount,
    data: fc.constantFrom<Hex>('0x', '0xa9059cbb'),
    nonce: fc.nat(),
    spentMicros: amount,
    attempts: fc.array(
      hash.map((txHash) => ({ ...ATTEMPT, txHash })),
      { minLength: 1, maxLength: 3 },
    ),
    mined: fc.option(
      fc.record({
        txHash: hash,
        blockNumber: fc.nat(),
        blockHash: fc.constant<Hex>('0x09'),
        outcome: fc.constantFrom('success', 'reverted'),
        feeWei: amount,
        executed: fc.record({
          router: fc.constantFrom(ADDRESS, OTHER),
          tokenIn: fc.constant(ADDRESS),
          amountIn: amount,
          fee: amount,
          tokenOut: fc.constant(OTHER),
          amountOut: amount,
        }),
      }),
    ),
    // What a node words may hold anything.
    error: fc.option(fc.record({ code: fc.string(), message: fc.string({ unit: 'binary' }) })),
    createdAtMs: time,
    updatedAtMs: time,
    confirmedAtMs: fc.option(time),
  })
  .map((said) => transaction(1, said))

test('a transaction is written in exactly the JSON of its view', () => {
  fc.assert(
    fc.property(anyTransaction, fc.option(fc.nat()), (tx, head) => {
      expect(transactionJson(tx, head)).toBe(JSON.stringify(transactionView(tx, head)))
    }),
  )
})

test('a time is written as the calendar has it, before the epoch and in one second after another', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -LAST_TIME_MS, max: LAST_TIME_MS }),
      fc.nat(2_000),
      (ms, later) => {
        for (const at of [ms, ms + later]) expect(isoTime(at)).toBe(new Date(at).toISOString())
      },
    ),
  )
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
})
