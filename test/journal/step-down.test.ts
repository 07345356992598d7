import { describe, expect, test } from 'vitest'
import { SETTLES_MS } from '../../src/journal/watch-leader.js'
import {
  IDENTITY_AWAY_MS,
  QUORUM_SIGNER_AWAY_MS,
  stepDown,
  WRITES_STOPPED_MS,
} from '../../src/service/step-down.js'
import { VirtualTimers } from '../support/virtual-timers.js'

const WHOLE = { identityProvider: true, quorumSigner: true, complete: true, fenced: false }
/** As by an identity provider that answers and refuses it. */
const REFUSED = { ...WHOLE, complete: false }

const REASONS = [
  {
    name: 'whose quorum signer is away',
    patienceMs: QUORUM_SIGNER_AWAY_MS,
    hurt: (one: Leader) =>
      Object.assign(one, { reach: { ...WHOLE, quorumSigner: false, complete: false } }),
  },
  {
    name: 'that does not reach the identity provider',
    patienceMs: IDENTITY_AWAY_MS,
    hurt: (one: Leader) =>
      Object.assign(one, { reach: { ...WHOLE, identityProvider: false, complete: false } }),
  },
  {
    name: 'that refuses writes for a reason of its own',
    patienceMs: WRITES_STOPPED_MS,
    hurt: (one: Leader) => Object.assign(one, { stops: 'its disk is full' }),
  },
]

/** @param reach as it is when it begins to lead */
function leader(reach = WHOLE) {
  const timers = new VirtualTimers(1_000)
  const one = {
    reach,
    stops: null as string | null,
    isFollowed: true,
    asked: 0,
    fails: false,
    errors: 0,
    isStillSo: null as (() => boolean) | null,
  }
  const stop = stepDown({
    reach: () => one.reach,
    writesStop: () => one.stops,
    isFollowed: () => one.isFollowed,
    async leave(isStillSo) {
      one.asked++
      one.isStillSo = isStillSo
      if (one.fails) throw new Error('the journal is away')
      return false
    },
    timers,
    log: { warn: () => undefined, error: () => void one.errors++ },
  })
  const heal = () => Object.assign(one, { reach: WHOLE, stops: null })
  return { one, timers, stop, heal }
}
type Leader = ReturnType<typeof leader>['one']

test('a leader that can sign and takes writes asks nobody', async () => {
  const { one, timers } = leader()
  await timers.pass(60_000)
  expect(one.asked).toBe(0)
})

describe.each(REASONS)('a leader $name', ({ patienceMs, hurt }) => {
  test('asks nobody while that may pass by itself', async () => {
    const { one, timers, heal } = leader()
    for (let times = 0; times < 3; times++) {
      hurt(one)
      await timers.pass(patienceMs - 250)
      heal()
      await timers.pass(500)
    }
    expect(one.asked).toBe(0)
  })

  test('asks who else could then, and again while no node does', async () => {
    const { one, timers, stop } = leader()
    hurt(one)
    await timers.pass(patienceMs + 500)
    expect(one.asked).toBe(1)
    await timers.pass(9_000)
    expect(one.asked).toBe(1)
    await timers.pass(20_000)
    expect(one.asked).toBe(3)
    stop()
    await timers.pass(60_000)
    expect(one.asked).toBe(3)
  })

  test('writes no question into the journal where no node waits', async () => {
    const { one, timers } = leader()
    one.isFollowed = false
    hurt(one)
    await timers.pass(60_000)
    expect(one.asked).toBe(0)
    one.isFollowed = true
    await timers.pass(500)
    expect(one.asked).toBe(1)
  })

  test('stays where the reason has passed by the time that one could', async () => {
    const { one, timers, heal } = leader()
    hurt(one)
    await timers.pass(patienceMs + 500)
    expect(one.isStillSo?.()).toBe(true)
    heal()
    expect(one.isStillSo?.()).toBe(false)
  })

  test('asks again where the journal was away', async () => {
    const { one, timers } = leader()
    one.fails = true
    hurt(one)
    await timers.pass(patienceMs + 1_000)
    await expect.poll(() => one.errors).toBe(1)
    await timers.pass(11_000)
    expect(one.asked).toBe(2)
  })
})

test('a new leader has the time that a start takes to connect to its quorum signer, and no more afterwards', async () => {
  const away = { ...WHOLE, quorumSigner: false, complete: false }
  const { one, timers, heal } = leader(away)
  await timers.pass(SETTLES_MS - 250)
  expect(one.asked).toBe(0)
  await timers.pass(750)
  expect(one.asked).toBe(1)
  heal()
  await timers.pass(10_000)
  Object.assign(one, { reach: away })
  await timers.pass(QUORUM_SIGNER_AWAY_MS + 500)
  expect(one.asked).toBe(2)
})

test('a leader waits for the identity provider for longer than that takes to be taken over', () => {
  expect(IDENTITY_AWAY_MS).toBeGreaterThan(2 * 5_300)
})

test('a leader that was taken over from leaves nothing to anybody', async () => {
  const { one, timers } = leader()
  one.reach = {
    ...WHOLE,
    identityProvider: false,
    quorumSigner: false,
    complete: false,
    fenced: true,
  }
  await timers.pass(60_000)
  expect(one.asked).toBe(0)
})

test('a leader whom the others refuse, and would refuse another, stays', async () => {
  const { one, timers } = leader()
  one.reach = REFUSED
  await timers.pass(60_000)
  expect(one.asked).toBe(0)
})
