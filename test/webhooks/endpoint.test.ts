import { pack } from 'msgpackr'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  ATTEMPTS_KEPT_MAX,
  type DeliveryRecord,
  evolveRecord,
  recordsTouched,
} from '../../actors/webhook-endpoint/core/delivery-record.js'
import { RETRY_DELAYS_MS } from '../../actors/webhook-endpoint/core/retry-schedule.js'
import { activeSecrets, PENDING_MAX } from '../../actors/webhook-endpoint/core/state.js'
import type { EventId } from '../../src/domain/ids.js'
import { EndpointSimulation, endpoint } from './endpoint-simulation.js'

let simulation: EndpointSimulation
beforeEach(() => {
  simulation = new EndpointSimulation()
  simulation.register()
  simulation.answerFeed()
})

const inFlight = () => simulation.flights.map(({ eventId }) => eventId)

function recordOf(eventId: EventId): DeliveryRecord | null {
  return simulation.journal
    .filter((event) => recordsTouched(event).includes(eventId))
    .reduce<DeliveryRecord | null>((record, event) => evolveRecord(record, eventId, event), null)
}

describe('order', () => {
  it('holds the second event of a lane until the first is delivered', () => {
    const [first, second] = [simulation.append('a', 'told'), simulation.append('a', 'told')]
    expect(inFlight()).toEqual([first])
    simulation.finish(0, 'delivered')
    expect(inFlight()).toEqual([second])
  })

  it('lets the second event pass once the first has entered retry', () => {
    const [, second] = [simulation.append('a', 'told'), simulation.append('a', 'told')]
    simulation.finish(0, 'retry')
    expect(inFlight()).toEqual([second])
  })

  it('delivers lanes side by side', () => {
    const ids = ['a', 'b', 'c'].map((lane) => simulation.append(lane, 'told'))
    expect(inFlight()).toEqual(ids)
  })

  it('keeps slots for retries in a flood of new events, and the reverse', () => {
    for (let i = 0; i < 20; i++) simulation.append(`lane-${i}`, 'told')
    expect(simulation.flights).toHaveLength(6)
    for (let i = 0; i < 20; i++) simulation.finish(0, 'retry')
    simulation.advance(10_000)
    expect(simulation.flights).toHaveLength(4)
    for (let i = 0; i < 20; i++) simulation.append(`fresh-${i}`, 'told')
    expect(simulation.flights).toHaveLength(8)
  })
})

describe('retries', () => {
  it('wait as long as the receiver asked, where that is longer', () => {
    simulation.append('a', 'told')
    simulation.finish(0, 'retry', 0, 600_000)
    expect(simulation.wakeAtMs).toBe(simulation.nowMs + 600_000)
    simulation.advance(599_999)
    expect(simulation.flights).toHaveLength(0)
    simulation.advance(1)
    expect(simulation.flights).toHaveLength(1)
  })

  it('follow the schedule, and end as exhausted', () => {
    const eventId = simulation.append('a', 'told')
    for (const delayMs of RETRY_DELAYS_MS) {
      simulation.finish(0, 'retry')
      expect(simulation.wakeAtMs).toBe(simulation.nowMs + delayMs)
      simulation.advance(delayMs - 1)
      expect(simulation.flights).toHaveLength(0)
      simulation.advance(1)
      expect(inFlight()).toEqual([eventId])
    }
    simulation.finish(0, 'retry')
    expect(simulation.results.get(eventId)).toBe('exhausted')
    expect(simulation.state?.pending).toEqual([])
    expect(simulation.wakeAtMs).toBeNull()
    expect(recordOf(eventId)).toMatchObject({
      status: 'exhausted',
      attemptCount: 9,
      nextTryAtMs: null,
    })
  })

  it('that came due while every slot was taken start with the next free slot', () => {
    for (let i = 0; i < 5; i++) simulation.append(`lane-${i}`, 'told')
    for (let i = 0; i < 5; i++) simulation.finish(0, 'retry')
    simulation.advance(5_000)
    expect(simulation.flights).toHaveLength(4)
    expect(simulation.wakeAtMs).toBeNull()
    simulation.finish(0, 'delivered')
    expect(simulation.flights).toHaveLength(4)
  })

  it('start again after a crash, and the outcome of a lost attempt counts no more', () => {
    const eventId = simulation.append('a', 'told')
    const [lost] = simulation.flights
    simulation.send({ type: 'checkpoint', nowMs: simulation.nowMs })
    simulation.crash()
    expect(inFlight()).toEqual([eventId])
    const outcome = { kind: 'delivered', status: 200, error: null, durationMs: 1 } as const
    const attemptId = lost?.attemptId ?? -1
    simulation.send({
      type: 'attempt-finished',
      eventId,
      attemptId,
      outcome,
      nowMs: simulation.nowMs,
      jitter: 0,
    })
    expect(simulation.results.has(eventId)).toBe(false)
    simulation.finish(0, 'delivered')
    expect(simulation.results.get(eventId)).toBe('delivered')
  })
})

describe('410', () => {
  it('disables the endpoint; enabling goes on with what was left', () => {
    const [first, second] = [simulation.append('a', 'told'), simulation.append('a', 'told')]
    simulation.finish(0, 'gone')
    expect(simulation.state).toMatchObject({
      disabledBecause: 'gone',
      endpoint: { status: 'disabled' },
    })
    expect(simulation.results.get(first)).toBe('gone')
    const third = simulation.append('a', 'told')
    expect(simulation.flights).toHaveLength(0)
    simulation.send({ type: 'change', changes: { status: 'enabled' }, nowMs: simulation.nowMs })
    simulation.drain()
    expect(simulation.deliveredInOrder).toEqual([second, third])
  })
})

describe('a backlog', () => {
  it('larger than the window stays behind the cursor, and all of it is delivered in order', () => {
    for (let i = 0; i < 700; i++) simulation.append('a', 'told')
    expect(simulation.state?.pending.length).toBeLessThanOrEqual(PENDING_MAX)
    simulation.drain()
    expect(simulation.deliveredInOrder).toEqual(simulation.log.map(({ eventId }) => eventId))
    expect(simulation.state?.cursor).toBe(700)
  })

  it('keeps the stored state small', () => {
    for (let i = 0; i < 400; i++) simulation.append(`sw_${'0'.repeat(26)}:8453`, 'told')
    expect(simulation.state?.pending).toHaveLength(PENDING_MAX)
    expect(pack(simulation.state).length).toBeLessThan(32 * 1_024)
  })

  it('that grows while the log is being read is noticed', () => {
    simulation.append('a', 'lost')
    simulation.append('a', 'told')
    simulation.readFeed()
    const late = simulation.append('b', 'told')
    simulation.answerFeed()
    simulation.drain()
    expect(simulation.results.get(late)).toBe('delivered')
  })
})

describe('the event filter', () => {
  it('takes confirmed, failed and dropped by default, and tests from nobody else', () => {
    simulation.append('a', 'told', 'transaction.broadcast')
    simulation.append('a', 'told', 'webhook.test')
    simulation.append('a', 'told', 'key.rotated')
    expect(simulation.flights).toHaveLength(0)
    simulation.append('b', 'told', 'transaction.dropped')
    expect(simulation.flights).toHaveLength(1)
  })

  it('can be changed', () => {
    const changes = { events: ['key.rotated' as const] }
    const reply = simulation.send({ type: 'change', changes, nowMs: simulation.nowMs })
    expect(reply).toMatchObject({ ok: true, value: { events: ['key.rotated'] } })
    simulation.append(null, 'told', 'key.rotated')
    simulation.append('a', 'told')
    expect(simulation.flights).toHaveLength(1)
  })
})

describe('secrets', () => {
  it('overlap for 24 hours after a rotation', () => {
    const { nowMs } = simulation
    const reply = simulation.send({ type: 'rotate-secret', sealed: 'sealed_2', nowMs })
    expect(reply?.ok).toBe(true)
    const rotated = simulation.state?.endpoint ?? endpoint
    expect(activeSecrets(rotated, nowMs)).toEqual(['sealed_2', 'sealed_1'])
    expect(activeSecrets(rotated, nowMs + 86_399_999)).toEqual(['sealed_2', 'sealed_1'])
    expect(activeSecrets(rotated, nowMs + 86_400_000)).toEqual(['sealed_2'])
  })

  it('never cut an overlap short: a fifth secret has to wait', () => {
    const rotate = (sealed: string) =>
      simulation.send({ type: 'rotate-secret', sealed, nowMs: simulation.nowMs })
    for (const sealed of ['sealed_2', 'sealed_3', 'sealed_4']) expect(rotate(sealed)?.ok).toBe(true)
    simulation.advance(1_000)
    expect(rotate('sealed_5')).toMatchObject({
      ok: false,
      fault: { code: 'RATE_LIMITED', details: { retry_after_seconds: 86_399 } },
    })
    simulation.advance(86_399_000)
    expect(rotate('sealed_5')?.ok).toBe(true)
    expect(simulation.state?.endpoint.secrets).toHaveLength(2)
  })
})

describe('deliveries that a person asks for', () => {
  it('go out at once, outside the lane', () => {
    const first = simulation.append('a', 'told')
    const testId = 'evt_test' as EventId
    simulation.send({ type: 'test', eventId: testId, nowMs: simulation.nowMs })
    expect(inFlight()).toEqual([first, testId])
  })

  it('start an exhausted delivery from the beginning, and keep its history', () => {
    const eventId = simulation.append('a', 'told')
    for (let i = 0; i < 9; i++) {
      simulation.finish(0, 'retry')
      simulation.advance(30 * 3_600_000)
    }
    simulation.send({
      type: 'redeliver',
      eventId,
      seq: 1,
      eventType: 'transaction.confirmed',
      nowMs: simulation.nowMs,
    })
    simulation.finish(0, 'retry')
    expect(simulation.wakeAtMs).toBe(simulation.nowMs + 5_000)
    simulation.drain()
    const record = recordOf(eventId)
    expect(record).toMatchObject({ status: 'delivered', attemptCount: 11 })
    expect(record?.attempts).toHaveLength(ATTEMPTS_KEPT_MAX)
    expect(record?.attempts.at(-1)).toMatchObject({ status: 200, error: null })
  })

  it('bring a planned retry forward', () => {
    const eventId = simulation.append('a', 'told')
    simulation.finish(0, 'retry')
    simulation.send({
      type: 'redeliver',
      eventId,
      seq: 1,
      eventType: 'transaction.confirmed',
      nowMs: simulation.nowMs,
    })
    expect(inFlight()).toEqual([eventId])
  })

  it('of an event that the endpoint does not read from the log goes out at once', () => {
    const { nowMs } = simulation
    const eventId = simulation.append(null, 'lost', 'key.revoked')
    const seq = simulation.log.length
    simulation.send({ type: 'redeliver', eventId, seq, eventType: 'key.revoked', nowMs })
    expect(inFlight()).toEqual([eventId])
  })

  it('of an event that is still to come from the log waits for its turn', () => {
    const { nowMs } = simulation
    const eventId = simulation.append('a', 'lost')
    const seq = simulation.log.length
    const eventType = 'transaction.confirmed'
    simulation.send({ type: 'redeliver', eventId, seq, eventType, nowMs })
    expect(inFlight()).toEqual([])
  })

  it('are refused while the endpoint is disabled', () => {
    const { nowMs } = simulation
    simulation.send({ type: 'change', changes: { status: 'disabled' }, nowMs })
    const reply = simulation.send({ type: 'test', eventId: 'evt_t' as EventId, nowMs })
    expect(reply).toMatchObject({ ok: false, fault: { code: 'INVALID_REQUEST' } })
  })
})

describe('a removed endpoint', () => {
  it('sends nothing more, and answers NOT_FOUND', () => {
    simulation.append('a', 'told')
    const { nowMs } = simulation
    expect(simulation.send({ type: 'remove', nowMs })?.ok).toBe(true)
    expect(simulation.state).toBeNull()
    simulation.finish(0, 'retry')
    expect(simulation.send({ type: 'tick', nowMs })).toBeUndefined()
    expect(simulation.flights).toHaveLength(0)
    expect(simulation.send({ type: 'remove', nowMs })).toMatchObject({
      ok: false,
      fault: { code: 'NOT_FOUND' },
    })
  })
})
