import { type BigIntStats, stat, statSync } from 'node:fs'

/**
 * Calls `look` whenever another file lies at a path than the last time, or none. What is put there
 * from this call on is noticed, however busy the process is: whoever reads the file after it misses
 * nothing. (`fs.watchFile` takes what it finds first for what it began with, and finds it late.)
 *
 * By polling: a file that is replaced by a rename loses an inotify watch, and a network file system
 * has none.
 * @returns ends the watch
 */
export function watchPath(path: string, everyMs: number, look: () => void): () => void {
  let seen = stateNow(path)
  let closed = false
  let timer: NodeJS.Timeout

  function again(): void {
    // Not at once, as the first time: a network file system may hang.
    stat(path, { bigint: true }, (error, stats) => {
      if (closed) return
      next()
      const found = error === null ? stateOf(stats) : reasonOf(error)
      if (found === seen) return
      seen = found
      look()
    })
  }

  function next(): void {
    timer = setTimeout(again, everyMs)
    timer.unref()
  }

  next()
  return () => {
    closed = true
    clearTimeout(timer)
  }
}

function stateNow(path: string): string {
  try {
    return stateOf(statSync(path, { bigint: true }))
  } catch (error) {
    return reasonOf(error)
  }
}

function stateOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs}`
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
