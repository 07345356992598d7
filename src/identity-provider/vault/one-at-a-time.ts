/**
 * Runs one write at a time. Requests that arrive during a write are covered by the next one, which
 * begins when the outcome of the first is known. LMDB would begin a transaction earlier: on a full
 * disk a small one behind a large one may fit, and would claim to cover rows that were never written.
 * @returns a function that requests a write of everything so far and settles as that write does
 */
export function oneAtATime(write: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null
  let next: Promise<void> | null = null

  function begin(): Promise<void> {
    next = null
    const written = write()
    underWay = written
    const end = () => {
      if (underWay === written) underWay = null
    }
    written.then(end, end)
    return written
  }

  return () => {
    if (next !== null) return next
    if (underWay === null) return begin()
    next = underWay.then(begin, begin)
    return next
  }
}
