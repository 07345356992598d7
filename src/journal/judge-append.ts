import { type Appended, JournalMisuse, type Place } from './journal.js'

/** The state of a partition in an engine when an append arrives. */
export interface Head {
  readonly epoch: number
  /** Seq of the last entry. */
  readonly seq: number
}

/** The entry at the place of the append. */
export interface Present {
  readonly epoch: number
  readonly sameBody: boolean
}

/**
 * The one rule for all engines: the answer to an append that was not simply the next entry.
 * @param present null if no entry is at its place
 * @returns `stored` for an entry that is there already
 * @throws JournalMisuse
 */
export function judgeAppend(at: Place, head: Head, present: Present | null): Appended {
  const { partition, epoch, seq } = at
  // Checked first, because a fenced leader must end whatever else is wrong with its append.
  if (epoch < head.epoch) return { kind: 'fenced', epoch: head.epoch }
  const where = `partition ${partition}, entry ${seq} of epoch ${epoch}`
  if (epoch > head.epoch) throw new JournalMisuse(`${where}: that epoch was never assigned`)
  if (present?.epoch === epoch && present.sameBody) return { kind: 'stored' }
  if (present !== null) throw new JournalMisuse(`${where}: that place has another entry`)
  throw new JournalMisuse(`${where}: the next place is ${head.seq + 1}`)
}
