import type { Row } from './rows.js'

/** @returns what resolves once the rows are durable, and all that were queued before them */
export type QueueRows = (rows: readonly Row[]) => Promise<void>

/**
 * One transaction at a time; what comes meanwhile is the next one, all together. LMDB begins a
 * transaction before the one ahead of it is known to be on disk, and where the disk is full a small
 * one behind a large one may still fit: a start would then find what was decided upon what is
 * nowhere. Once one was refused, nothing that came after it is tried, or kept: whoever decided upon
 * it has to start over.
 * @param apply all of them or none
 */
export function queueOfRows(apply: (rows: readonly Row[]) => Promise<void>): QueueRows {
  let last: Promise<void> = Promise.resolve()
  let isIdle = true
  let isRefused = false
  /** Of the next transaction; null where nothing waits. */
  let waiting: Row[] | null = null

  async function write(rows: readonly Row[]): Promise<void> {
    try {
      await apply(rows)
    } catch (error) {
      isRefused = true
      waiting = null
      throw error
    }
    if (waiting === null) isIdle = true
  }

  return (rows) => {
    if (isRefused) return last
    if (waiting !== null) {
      for (const row of rows) waiting.push(row)
      return last
    }
    if (isIdle) {
      isIdle = false
      last = write(rows)
      return last
    }
    const gathered = [...rows]
    waiting = gathered
    last = last.then(() => {
      waiting = null
      return write(gathered)
    })
    return last
  }
}
