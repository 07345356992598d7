/**
 * Runs a write once at a time: what is asked for while one is under way is done by the next, which
 * begins when the outcome of that one is known. LMDB begins a transaction before: where the disk is
 * full, a small one behind a large one may still fit, and would say that it covers what is nowhere.
 * @returns what asks for a write of all that there is by then; it settles as that write does
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
