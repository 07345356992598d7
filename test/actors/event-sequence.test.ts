import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { workerOf, workerOfPartition } from '../../actors/runtime/routing.js'
import type { NewEvent } from '../../src/domain/event.js'
import { type UserId, ulidBytes } from '../../src/domain/ids.js'
import { PARTITION_COUNT, partitionOf } from '../../src/domain/partition.js'
import type { PlacedEvents } from '../../src/store/event-rows.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'

/** One user of each partition. */
const USERS = Array.from({ length: PARTITION_COUNT }, (_, partition) => {
  for (let n = 0; ; n++) {
    const user = `user_${n}` as UserId
    if (partitionOf(user) === partition) return user
  }
})
const [FIRST, SECOND] = [USERS[0] as UserId, USERS[1] as UserId]
const WORKERS = 3

const event = (userId: UserId): NewEvent => ({
  ...{ eventId: null, userId, type: 'webhook.test', atMs: 1_000, subWalletId: null },
  ...{ laneKey: null, data: {} },
})
const events = (...users: readonly UserId[]) => users.map(event)
const seqs = ({ stored }: PlacedEvents) => stored.map(({ seq }) => seq)

describe('the event sequence', () => {
  test('goes on after the last place of each partition, and hides what is not committed', () => {
    const buffer = createEventSequenceBuffer([41, 7])
    const writer = attachEventSequence(buffer, () => true)
    const reader = attachEventSequence(buffer, () => false)
    expect([reader.readable(FIRST), reader.readable(SECOND)]).toEqual([41, 7])
    const one = writer.place(events(FIRST, SECOND, FIRST))
    expect(seqs(one)).toEqual([42, 8, 43])
    const other = writer.place(events(FIRST))
    writer.settle(other)
    expect([reader.readable(FIRST), reader.readable(SECOND)]).toEqual([41, 7])
    writer.settle(one)
    expect([reader.readable(FIRST), reader.readable(SECOND)]).toEqual([44, 8])
  })

  test("a thread takes no place of a partition that another writes, nor of its batch's others", () => {
    const buffer = createEventSequenceBuffer()
    const writer = attachEventSequence(buffer, (partition) => partition === 0)
    expect(() => writer.place(events(FIRST, SECOND))).toThrow('partition 1 has another writer')
    expect(seqs(writer.place(events(FIRST)))).toEqual([1])
    const reader = attachEventSequence(buffer, () => false)
    expect(() => reader.place(events(FIRST))).toThrow('has another writer')
  })

  test('what was given back is taken again, so that the log has no hole', () => {
    const writer = attachEventSequence(createEventSequenceBuffer(), () => true)
    writer.giveBack(writer.place(events(FIRST, FIRST)))
    expect(writer.readable(FIRST)).toBe(0)
    expect(seqs(writer.place(events(FIRST)))).toEqual([1])
  })

  test('events of one moment and one place in different partitions have different ids', () => {
    const writer = attachEventSequence(createEventSequenceBuffer(), () => true)
    const { stored } = writer.place(events(...USERS))
    expect(new Set(stored.map(({ seq }) => seq))).toEqual(new Set([1]))
    // Time, place and partition: what is random comes after.
    const known = stored.map(({ eventId }) => `${ulidBytes(eventId).slice(0, 13)}`)
    expect(new Set(known).size).toBe(PARTITION_COUNT)
  })

  test('never shows a place before all below it are committed, and never one less than before', () => {
    const step = fc.record({
      partition: fc.nat(PARTITION_COUNT - 1),
      act: fc.constantFrom('take', 'settle-one', 'settle-all', 'give-back'),
      count: fc.integer({ min: 1, max: 5 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const buffer = createEventSequenceBuffer()
        const workers = Array.from({ length: WORKERS }, (_, i) =>
          attachEventSequence(buffer, (partition) => workerOfPartition(partition, WORKERS) === i),
        )
        const reader = attachEventSequence(buffer, () => false)
        const pending = USERS.map((): PlacedEvents[] => [])
        const taken = USERS.map(() => 0)
        const shown = USERS.map(() => 0)
        for (const { partition, act, count } of steps) {
          const user = USERS[partition] as UserId
          const open = pending[partition] ?? []
          const sequence = workers[workerOfPartition(partition, WORKERS)]
          const before = taken[partition] ?? 0
          if (act === 'take' || act === 'give-back') {
            const placed = sequence?.place(events(...Array.from({ length: count }, () => user)))
            if (placed === undefined) continue
            expect(seqs(placed)).toEqual(Array.from({ length: count }, (_, i) => before + 1 + i))
            if (act === 'give-back') sequence?.giveBack(placed)
            else {
              open.push(placed)
              taken[partition] = before + count
            }
          } else {
            const settled = open.splice(0, act === 'settle-one' ? 1 : open.length)
            for (const placed of settled) sequence?.settle(placed)
          }
          const lowest = Math.min((taken[partition] ?? 0) + 1, ...open.flatMap(seqs))
          const readable = reader.readable(user)
          expect(readable).toBe(lowest - 1)
          expect(readable).toBeGreaterThanOrEqual(shown[partition] ?? 0)
          shown[partition] = readable
        }
      }),
    )
  })
})

test("all actors of a user live on the thread that writes the user's events", () => {
  for (const workerCount of [1, 2, 5, PARTITION_COUNT]) {
    for (const userId of USERS) {
      const writer = workerOfPartition(partitionOf(userId), workerCount)
      for (const kind of ['sub-wallet', 'webhook-endpoint', 'address-rules', 'quotas'] as const) {
        for (const id of ['a', 'b'])
          expect(workerOf({ kind, id, userId }, workerCount)).toBe(writer)
      }
    }
  }
})
