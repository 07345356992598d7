import type { Journal } from '../../src/journal/journal.js'
import type { Planted } from './planted.js'

/** As `PLANTED`, in worlds of several machines over one journal. */
export const PLANTED_IN_CLUSTER: readonly Planted[] = [
  {
    what: 'an owner from which the journal was taken goes on, and both others let it',
    seed: 622,
    ignoresOwners: true,
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
    const { seq } = await journal.look(partition)
    return entries.filter((entry) => entry.seq !== seq)
  }
}
