import { expect, test } from 'vitest'
import { MEMBERS_MAX } from '../../src/domain/members.js'
import { createInvitationRate } from '../../src/operations/console/invitation-rate.js'

const HOUR_MS = 3_600_000
const ALL = 2 * MEMBERS_MAX

function rateAt() {
  const clock = { nowMs: 0 }
  const refusalOf = createInvitationRate(() => clock.nowMs)
  /** How many of them pass. */
  const passing = (count: number, accountId: string, personId: string) =>
    Array.from({ length: count }, () => refusalOf({ accountId, personId })).filter(
      (refusal) => refusal === null,
    ).length
  return { clock, refusalOf, passing }
}

test('an account can fill its places at once, and then has to wait', () => {
  const { clock, refusalOf, passing } = rateAt()
  expect(passing(2 * ALL, 'account', 'ada')).toBe(ALL)
  const refusal = refusalOf({ accountId: 'account', personId: 'ada' })
  expect(refusal).toMatchObject({ code: 'RATE_LIMITED' })
  const wait = Number(refusal?.details.retry_after_seconds)
  expect(wait).toBeGreaterThan(0)
  clock.nowMs += wait * 1_000
  expect(passing(2, 'account', 'ada')).toBe(1)
  clock.nowMs += HOUR_MS
  expect(passing(2 * ALL, 'account', 'ada')).toBe(ALL)
})

test('owners of one account share its rate', () => {
  const { passing } = rateAt()
  expect(passing(ALL, 'account', 'ada')).toBe(ALL)
  expect(passing(1, 'account', 'bob')).toBe(0)
  expect(passing(1, 'another account', 'bob')).toBe(1)
})

test('a person has one rate in all of their accounts, and takes nothing from others beyond it', () => {
  const { passing } = rateAt()
  const accounts = Array.from({ length: 2 * ALL }, (_, n) => `account ${n}`)
  const passed = accounts.filter((account) => passing(1, account, 'ada') === 1)
  expect(passed).toHaveLength(ALL)
  expect(passing(ALL, `account ${2 * ALL - 1}`, 'bob')).toBe(ALL)
})
