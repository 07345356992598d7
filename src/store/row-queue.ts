import type { Row } from './rows.js'

/** @returns a promise that resolves once these rows, and all queued before them, are durable */
type QueueRows = (rows: readonly Row[]) => Promise<void>

/**
 * Runs one transaction at a time; rows that come during it are the next one, all together. LMDB
 * begins a transaction before the previous one is known to be on disk, and on a full disk a small
 * one may fit after a large one did not: a start would then find records that depend on missing
 * ones. After a refused transaction nothing later is tried or kept; the deciders of those commits
 * start again.
 * @param apply writes all of the rows or none
 */
export function queueOfRows(apply: (rows: readonly Row[]) => Promise<void>): QueueRows {
  let last: Promise<void> = Promise.resolve()
  let isIdle = true
  let isRefused = false
  /** Rows of the next transaction; null if none wait. */
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
