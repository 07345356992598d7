import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  IN_FLIGHT_MAX,
  PENDING_WITH_REQUESTED_MAX,
} from '../../actors/webhook-endpoint/core/state.js'
import { EndpointSimulation } from './endpoint-simulation.js'

type Step =
  | { readonly do: 'append'; readonly lane: number; readonly notice: 'told' | 'lost' }
  | { readonly do: 'append-unwanted' }
  | {
      readonly do: 'finish'
      readonly position: number
      readonly kind: 'delivered' | 'retry' | 'gone'
    }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'read-feed' | 'answer-feed' | 'crash' | 'disable' | 'enable' }
  | { readonly do: 'redeliver'; readonly back: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      lane: fc.integer({ min: 0, max: 3 }),
      notice: fc.constantFrom('told' as const, 'told' as const, 'lost' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('append-unwanted' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      position: fc.nat(7),
      kind: fc.constantFrom(
        'delivered' as const,
        'delivered' as const,
        'delivered' as const,
        'retry' as const,
        'retry' as const,
        'gone' as const,
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(4_000_000) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('read-feed' as const, 'answer-feed' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'disable' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('enable' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('redeliver' as const), back: fc.nat(20) }),
  },
)

function perform(simulation: EndpointSimulation, action: Step): void {
  const { nowMs } = simulation
  switch (action.do) {
    case 'append':
      simulation.append(action.lane === 0 ? null : `lane-${action.lane}`, action.notice)
      break
    case 'append-unwanted':
      simulation.append('lane-1', 'told', 'transaction.broadcast')
      break
    case 'finish':
      simulation.finish(action.position, action.kind)
      break
    case 'advance':
      simulation.advance(action.ms)
      break
    case 'read-feed':
      simulation.readFeed()
      break
    case 'answer-feed':
      simulation.answerFeed()
      break
    case 'crash':
      simulation.crash()
      break
    case 'disable':
      simulation.send({ type: 'change', changes: { status: 'disabled' }, nowMs })
      break
    case 'enable':
      simulation.send({ type: 'change', changes: { status: 'enabled' }, nowMs })
      break
    case 'redeliver': {
      const meta = simulation.log.at(-1 - action.back)
      if (meta !== undefined) {
        const { eventId, seq, type: eventType } = meta
        simulation.send({ type: 'redeliver', eventId, seq, eventType, nowMs })
      }
    }
  }
}

describe('whatever happens to an endpoint', () => {
  it('no event is lost, lanes keep their order, and bounds hold', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const simulation = new EndpointSimulation()
        simulation.register()
        for (const action of steps) {
          perform(simulation, action)
          const pending = simulation.state?.pending ?? []
          expect(pending.length).toBeLessThanOrEqual(PENDING_WITH_REQUESTED_MAX)
          expect(new Set(pending.map(({ eventId }) => eventId)).size).toBe(pending.length)
          const inFlight = pending.filter(({ attemptId }) => attemptId !== 0)
          expect(inFlight.length).toBeLessThanOrEqual(IN_FLIGHT_MAX)
          expect(inFlight.length).toBe(simulation.flights.length)
        }
        const { nowMs } = simulation
        simulation.send({ type: 'change', changes: { status: 'enabled' }, nowMs })
        // A lost notice shows by the gap before the next one; that one may come during a feed.
        simulation.readFeed()
        simulation.append('lane-1', 'told')
        simulation.drain()
        expect(simulation.state?.pending).toEqual([])
        for (const { eventId, type } of simulation.log) {
          if (type === 'transaction.confirmed') expect(simulation.results.has(eventId)).toBe(true)
        }
      }),
      { numRuns: 400 },
    )
  })

  it('an endpoint that always answers gets each event once, in the order of its lane', () => {
    const appends = fc.array(
      fc.record({ lane: fc.integer({ min: 1, max: 3 }), finish: fc.option(fc.nat(7)) }),
      { maxLength: 80 },
    )
    fc.assert(
      fc.property(appends, (actions) => {
        const simulation = new EndpointSimulation()
        simulation.register()
        for (const { lane, finish } of actions) {
          simulation.append(`lane-${lane}`, 'told')
          simulation.answerFeed()
          if (finish !== null) simulation.finish(finish, 'delivered')
        }
        simulation.drain()
        expect([...simulation.tries.values()].every((tries) => tries === 1)).toBe(true)
        for (const lane of ['lane-1', 'lane-2', 'lane-3']) {
          const ofLane = simulation.log.filter(({ laneKey }) => laneKey === lane)
          const expected = ofLane.map(({ eventId }) => eventId)
          const inLane = new Set(expected)
          expect(simulation.deliveredInOrder.filter((id) => inLane.has(id))).toEqual(expected)
        }
      }),
      { numRuns: 200 },
    )
  })
})
