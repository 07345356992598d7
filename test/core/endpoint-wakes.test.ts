import { expect, test } from 'vitest'
import type { IncomingCommand } from '../../actors/webhook-endpoint/core/commands.js'
import type { EndpointEffect } from '../../actors/webhook-endpoint/core/events.js'
import type { EventId } from '../../src/domain/ids.js'
import { createReader } from '../../src/store/reader.js'
import { createMemoryEnvironment } from '../actors/memory-environment.js'
import { START_MS } from '../actors/wallet-fixtures.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import { ENDPOINT, ID, shellOn } from './endpoint-drive.js'

const nowMs = START_MS
const eventId = 'evt_test_1' as EventId

test('a retry is made in its time although an earlier decision is acted on after it', async () => {
  const timers = new VirtualTimers(START_MS)
  const shell = shellOn(createReader(createMemoryEnvironment()), timers)
  const holder = shell.load(ID)
  const told: string[] = []
  const decided = (command: IncomingCommand) => shell.decide(holder, command, null).effects
  const wakeBy = (effects: readonly EndpointEffect[]) => {
    for (const effect of effects) {
      if (effect.type === 'wake') shell.run(ID, effect, ({ type }) => told.push(type))
    }
  }
  wakeBy(decided({ type: 'register', endpoint: ENDPOINT, secret: 'whsec_1', cursor: 0, nowMs }))
  // Its commit is slow: the attempt has failed before it is acted on.
  const asked = decided({ type: 'test', eventId, nowMs })
  expect(asked.map(({ type }) => type)).toContain('deliver')
  const outcome = { kind: 'retry', status: 500, error: 'it failed', durationMs: 1 } as const
  wakeBy(decided({ type: 'attempt-finished', eventId, attemptId: 1, outcome, nowMs, jitter: 0 }))
  wakeBy(asked)
  await timers.pass(60_000)
  expect(told).toEqual(['tick'])
})
