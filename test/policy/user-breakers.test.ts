import { describe, expect, test } from 'vitest'
import type { Address, SubWalletId } from '../../src/domain/ids.js'
import {
  NO_USER_TALLY,
  replayUserBreakers,
  SHARED_PAYEES_MAX,
  SHARING_WALLETS_MAX,
  USER_BREAKER_PRESETS,
  type UserBreaker,
  type Watched,
  watchUser,
} from '../../src/policy/user-breakers.js'

const NOON = Date.UTC(2026, 0, 31, 12)
const STRANGER = addressOf(7)

function addressOf(n: number): Address {
  return `0x${String(n).padStart(40, '0')}`
}

function paid(second: number, wallet: number, ...newPayees: readonly Address[]): Watched {
  return {
    ...{ type: 'signed', atMs: NOON + second * 1_000, micros: 1_000_000n },
    ...{ subWalletId: `sw_${wallet}` as SubWalletId, newPayees },
  }
}

const refused = (second: number): Watched => ({ type: 'refused', atMs: NOON + second * 1_000 })
const shared = (wallets: number, perSeconds: number): UserBreaker => ({
  ...{ kind: 'shared_beneficiary', wallets, perSeconds },
})

function trips(breakers: readonly UserBreaker[], log: readonly Watched[]) {
  return replayUserBreakers([{ type: 'set', breakers }, ...log])
}

describe('a breaker of a beneficiary that wallets share', () => {
  test('trips with the wallet that makes them too many, and names whom they pay', () => {
    const log = [paid(0, 1, STRANGER), paid(5, 2, STRANGER), paid(9, 3, STRANGER)]
    expect(trips([shared(3, 10)], log)).toEqual([
      {
        atMs: NOON + 9_000,
        reason: `breaker: 3 sub-wallets paid ${STRANGER} for the first time in 10 s, where 3 are too many`,
      },
    ])
    expect(trips([shared(4, 10)], log)).toEqual([])
  })

  test('counts a wallet once, and forgets what is longer ago than its time', () => {
    expect(
      trips([shared(2, 10)], [paid(0, 1, STRANGER), paid(1, 1, STRANGER), paid(10, 2, STRANGER)]),
    ).toHaveLength(1)
    expect(
      trips([shared(2, 10)], [paid(0, 1, STRANGER), paid(10, 2, STRANGER), paid(25, 3, STRANGER)]),
    ).toEqual([])
  })

  test('does not take many strangers for one', () => {
    const log = Array.from({ length: 20 }, (_, n) => paid(n, n, addressOf(n)))
    expect(trips([shared(2, 60)], log)).toEqual([])
  })
})

test('breakers of a user count what all keys do together, and begin again by a trip or a change', () => {
  const refusals: UserBreaker = { kind: 'refusals', count: 3, factor: null, perSeconds: 60 }
  expect(trips([refusals], [0, 1, 2, 3, 4].map(refused))).toHaveLength(1)
  expect(trips([refusals], [0, 1, 2, 3, 4, 5].map(refused))).toHaveLength(2)
  const reset = { type: 'set', breakers: [refusals] } as const
  expect(replayUserBreakers([reset, refused(0), refused(1), reset, refused(2)])).toEqual([])
  const strangers: UserBreaker = {
    kind: 'new_beneficiaries',
    count: 3,
    factor: null,
    perSeconds: 60,
  }
  const log = [paid(0, 1, STRANGER), paid(1, 2, STRANGER), paid(2, 1), paid(3, 1, addressOf(8))]
  expect(trips([strangers], log)).toMatchObject([{ atMs: NOON + 3_000 }])
})

test('what is remembered stays within its bounds, and what is newest is kept', () => {
  const breakers = [shared(SHARING_WALLETS_MAX, 86_400)]
  let tally = NO_USER_TALLY
  for (let n = 0; n < 2 * SHARED_PAYEES_MAX; n++) {
    const step = watchUser(breakers, tally, paid(n, n, addressOf(n), STRANGER))
    tally = step.trip === null ? step.tally : tally
    expect(tally.shared.length).toBeLessThanOrEqual(SHARED_PAYEES_MAX)
    for (const { firsts } of tally.shared) {
      expect(firsts.length).toBeLessThanOrEqual(SHARING_WALLETS_MAX)
    }
  }
  expect(tally.shared.some(({ address }) => address === STRANGER)).toBe(true)
})

test('presets trip for a fleet that is turned on one stranger, and off does nothing', () => {
  const attack = [1, 2, 3, 4, 5].map((wallet) => paid(wallet, wallet, STRANGER))
  expect(trips(USER_BREAKER_PRESETS.usual, attack)).toHaveLength(1)
  expect(trips(USER_BREAKER_PRESETS.strict, attack)).toMatchObject([{ atMs: NOON + 3_000 }])
  expect(trips(USER_BREAKER_PRESETS.off, attack)).toEqual([])
})
