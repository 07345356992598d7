import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGasBook } from '../../src/domain/gas-book.js'
import type { SubWalletId, UserId } from '../../src/domain/ids.js'
import { utcDay } from '../../src/domain/spend.js'
import type { WalletGas } from '../../src/domain/sponsored-gas.js'
import { START_MS } from './wallet-fixtures.js'

const DAY_MS = 86_400_000
const today = utcDay(START_MS)
const wallets = ['sw_a', 'sw_b', 'sw_c', 'sw_d'].map((id) => id as SubWalletId)
const users = ['user_a', 'user_b'].map((id) => id as UserId)

const gas: fc.Arbitrary<WalletGas> = fc
  .record({ day: fc.integer({ min: 0, max: 2 }), micros: fc.nat(50), held: fc.nat(50) })
  .map(({ day, micros, held }) => ({
    paid: { day: today + day, micros: BigInt(micros) },
    heldMicros: BigInt(held),
  }))
const put = fc.tuple(fc.constantFrom(...users), fc.constantFrom(...wallets), gas)

test('what the others of a user count is held by them, and what they paid this day', () => {
  fc.assert(
    fc.property(
      fc.array(put, { maxLength: 30 }),
      fc.array(put, { maxLength: 8 }),
      (puts, first) => {
        const stored = new Map(
          users.map((user) => [
            user,
            new Map(first.filter(([of]) => of === user).map(([, wallet, said]) => [wallet, said])),
          ]),
        )
        const book = createGasBook((user) => stored.get(user) ?? [])
        // Read once, before anything of the user's was told.
        for (const user of users) book.ofOthers(user, wallets[0] as SubWalletId, START_MS)
        const model = new Map([...stored].map(([user, own]) => [user, new Map(own)]))
        for (const [user, wallet, said] of puts) {
          book.put(user, wallet, said)
          model.get(user)?.set(wallet, said)
          for (const asked of wallets) {
            for (const day of [0, 1, 2, 3]) {
              const nowMs = START_MS + day * DAY_MS
              let micros = 0n
              for (const [other, { paid, heldMicros }] of model.get(user) ?? []) {
                if (other === asked) continue
                // A clock that steps back frees nothing.
                micros += heldMicros + (paid.day >= utcDay(nowMs) ? paid.micros : 0n)
              }
              expect(book.ofOthers(user, asked, nowMs)).toBe(micros)
            }
          }
        }
      },
    ),
  )
})
