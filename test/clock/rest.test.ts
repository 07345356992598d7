import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { rest } from '../../src/clock/rest.js'
import { VirtualTimers } from '../support/virtual-timers.js'

test('a rest ends when its time is over, or at once when all does, and leaves nothing behind', async () => {
  const timers = new VirtualTimers(0)
  const stopping = new AbortController()
  const { signal } = stopping
  for (let passes = 0; passes < 3; passes++) {
    const rested = rest(timers, 500, signal)
    await timers.pass(500)
    await rested
    expect([timers.waiting, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  }
  const resting = rest(timers, 500, signal)
  stopping.abort()
  await resting
  await rest(timers, 500, signal)
  expect([timers.waiting, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
})
