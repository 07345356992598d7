import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import type { Planted } from './planted.js'

/** As `PLANTED`, in worlds of several machines over one journal. */
export const PLANTED_IN_CLUSTER: readonly Planted[] = [
  {
    what: 'an owner from which the journal was taken goes on, and both others let it',
    seed: 1,
    ignoresLeaders: true,
    journal: (journal) => ({
      ...journal,
      async append(at, body) {
        await journal.append(at, body)
        return { kind: 'stored' }
      },
    }),
  },
  {
    what: 'a commit is called stored before the journal has it',
    seed: 1,
    journal: (journal) => ({
      ...journal,
      async append(at, body) {
        journal.append(at, body).catch(() => undefined)
        return { kind: 'stored' }
      },
    }),
  },
  {
    what: 'who takes over does not read the last entry',
    seed: 1,
    journal: (journal) => ({ ...journal, read: allButLast(journal) }),
  },
  {
    what: 'a standby follows every entry but one',
    seed: 1,
    journal(journal) {
      let reads = 0
      return {
        ...journal,
        async read(partition, afterSeq, bytesMax) {
          const entries = await journal.read(partition, afterSeq, bytesMax)
          return ++reads % 5 === 0 ? entries.slice(1) : entries
        },
      }
    },
  },
]

function allButLast(journal: Journal): Journal['read'] {
  return async (partition, afterSeq, bytesMax) => {
    const entries = await journal.read(partition, afterSeq, bytesMax)
    const { seq } = await journal.readHead(partition)
    return entries.filter((entry) => entry.seq !== seq)
  }
}

const WITHOUT_ANSWER = (error: unknown) => {
  if (error instanceof JournalUnavailable) return { kind: 'stored' } as const
  throw error
}

/** As `PLANTED_IN_CLUSTER`, where any two may be cut off from one another and clocks differ. */
export const PLANTED_WHERE_PARTED: readonly Planted[] = [
  {
    what: 'an append that nobody answered is called stored',
    seed: 11,
    journal: (journal) => ({
      ...journal,
      append: (at, body) => journal.append(at, body).catch(WITHOUT_ANSWER),
    }),
  },
  {
    what: 'who waits counts silence by the clock on the wall',
    seed: 13,
    parted: { standbyTimers: (timers) => ({ ...timers, elapsed: timers.now }) },
  },
  {
    what: 'the day turns by a clock that no chain bears out',
    seed: 181,
    parted: { trustsMachineClock: true },
  },
  {
    what: 'the identity provider takes grants of an earlier owner',
    seed: 17,
    parted: { servesEarlier: true },
  },
  {
    what: 'a node asks again with another key where nobody knows the outcome',
    seed: 31,
    parted: { forwards: 'again-after-unknown' },
  },
  {
    what: 'a node calls undone what the owner may have done',
    seed: 12,
    parted: { forwards: 'unknown-as-not-done' },
  },
  {
    what: 'a node that waits answers reads by itself',
    seed: 16,
    parted: { forwards: 'reads-by-itself' },
  },
]
