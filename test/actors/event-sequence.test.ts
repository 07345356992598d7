import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'

const WORKERS = 3

describe('the event sequence', () => {
  test('goes on after the last place in the store, and hides what is not committed', () => {
    const buffer = createEventSequenceBuffer(2, 41)
    const [first, second] = [attachEventSequence(buffer, 0), attachEventSequence(buffer, 1)]
    const reader = attachEventSequence(buffer, null)
    expect(reader.readable()).toBe(41)
    expect(first.take(1)).toBe(42)
    expect(second.take(3)).toBe(43)
    second.settled(null)
    expect(reader.readable()).toBe(41)
    first.settled(null)
    expect(reader.readable()).toBe(45)
    expect(first.take(1)).toBe(46)
  })

  test('readers take no place', () => {
    const reader = attachEventSequence(createEventSequenceBuffer(1, 0), null)
    expect(() => reader.take(1)).toThrow('a reader appends no events')
  })

  test('never shows a place before all below it are committed, and never one less than before', () => {
    const step = fc.record({
      worker: fc.nat(WORKERS - 1),
      act: fc.constantFrom('take', 'settle-one', 'settle-all'),
      count: fc.integer({ min: 1, max: 5 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const buffer = createEventSequenceBuffer(WORKERS, 0)
        const workers = Array.from({ length: WORKERS }, (_, i) => ({
          sequence: attachEventSequence(buffer, i),
          pending: [] as number[],
        }))
        const reader = attachEventSequence(buffer, null)
        let taken = 0
        let shown = 0
        for (const { worker, act, count } of steps) {
          const mine = workers[worker]
          if (mine === undefined) continue
          const { sequence, pending } = mine
          if (act === 'take') {
            expect(sequence.take(count)).toBe(taken + 1)
            pending.push(taken + 1)
            taken += count
          } else {
            pending.splice(0, act === 'settle-one' ? 1 : pending.length)
            sequence.settled(pending[0] ?? null)
          }
          const readable = reader.readable()
          const lowest = Math.min(taken + 1, ...workers.flatMap((it) => it.pending))
          expect(readable).toBe(lowest - 1)
          expect(readable).toBeGreaterThanOrEqual(shown)
          shown = readable
        }
      }),
    )
  })
})
