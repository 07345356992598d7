import { expect, test } from 'vitest'
import { leaveWithoutQuorum } from '../../src/service/leave-without-quorum.js'
import { VirtualTimers } from '../support/virtual-timers.js'

const WHOLE = { identityProvider: true, quorumSigner: true, complete: true, fenced: false }
const ALONE = { ...WHOLE, quorumSigner: false, complete: false }
/** As by an identity provider that answers and refuses it. */
const REFUSED = { ...WHOLE, complete: false }

function owner() {
  const timers = new VirtualTimers(1_000)
  const one = { reach: WHOLE, asked: 0, leaves: false, errors: 0 }
  const stop = leaveWithoutQuorum({
    reach: () => one.reach,
    async leave() {
      one.asked++
      if (one.leaves) throw new Error('the journal is away')
      return false
    },
    timers,
    log: { warn: () => undefined, error: () => void one.errors++ },
  })
  return { one, timers, stop }
}

test('an owner that can sign asks nobody, and one that was alone for a moment neither', async () => {
  const { one, timers } = owner()
  await timers.pass(60_000)
  one.reach = ALONE
  await timers.pass(2_500)
  one.reach = WHOLE
  await timers.pass(500)
  one.reach = ALONE
  await timers.pass(2_500)
  expect(one.asked).toBe(0)
})

test('an owner that can sign with nobody asks who else could, and again while nobody does', async () => {
  const { one, timers, stop } = owner()
  one.reach = ALONE
  await timers.pass(3_500)
  expect(one.asked).toBe(1)
  await timers.pass(9_000)
  expect(one.asked).toBe(1)
  await timers.pass(20_000)
  expect(one.asked).toBe(3)
  stop()
  await timers.pass(60_000)
  expect(one.asked).toBe(3)
})

test('an owner that was taken over from leaves nothing to anybody', async () => {
  const { one, timers } = owner()
  one.reach = { ...ALONE, fenced: true }
  await timers.pass(60_000)
  expect(one.asked).toBe(0)
})

test('a journal that is away is asked again', async () => {
  const { one, timers } = owner()
  one.leaves = true
  one.reach = ALONE
  await timers.pass(4_000)
  await expect.poll(() => one.errors).toBe(1)
  await timers.pass(11_000)
  expect(one.asked).toBe(2)
})

test('an owner whom the others refuse, and would refuse another, stays', async () => {
  const { one, timers } = owner()
  one.reach = REFUSED
  await timers.pass(60_000)
  expect(one.asked).toBe(0)
})
