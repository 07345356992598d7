import { type Appended, JournalMisuse, type Place } from './journal.js'

/** What an engine has of a partition when an append comes. */
export interface Head {
  readonly epoch: number
  /** Of the last entry. */
  readonly seq: number
}

/** What it has at the place of the append. */
export interface Present {
  readonly epoch: number
  readonly sameBody: boolean
}

/**
 * The one rule for all engines: what an append is worth that did not simply come next.
 * @param present null where no entry is at its place
 * @returns `stored` for one that is there already
 * @throws JournalMisuse
 */
export function judgeAppend(at: Place, head: Head, present: Present | null): Appended {
  const { partition, epoch, seq } = at
  // First of all: whatever else is wrong with it, an owner that is none any more must end.
  if (epoch < head.epoch) return { kind: 'fenced', epoch: head.epoch }
  const where = `partition ${partition}, entry ${seq} of epoch ${epoch}`
  if (epoch > head.epoch) throw new JournalMisuse(`${where}: that epoch was never given`)
  if (present?.epoch === epoch && present.sameBody) return { kind: 'stored' }
  if (present !== null) throw new JournalMisuse(`${where}: another entry is there`)
  throw new JournalMisuse(`${where}: the next is ${head.seq + 1}`)
}
