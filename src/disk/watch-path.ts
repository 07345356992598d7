import { type BigIntStats, stat, statSync } from 'node:fs'

/**
 * Calls `poll` whenever the file at a path is another one than at the last poll, or is missing. A
 * file put there after this call is always noticed, however busy the process is, so a caller that
 * then reads the file misses nothing. (`fs.watchFile` starts with what it finds first, and finds it
 * late.)
 *
 * It polls, because a file that is replaced by a rename loses an inotify watch, and a network file
 * system has none.
 * @returns a function that ends the watch
 */
export function watchPath(path: string, everyMs: number, poll: () => void): () => void {
  let seen = stateNow(path)
  let closed = false
  let timer: NodeJS.Timeout

  function again(): void {
    // Asynchronous, unlike the first time, because a network file system may hang.
    stat(path, { bigint: true }, (error, stats) => {
      if (closed) return
      next()
      const found = error === null ? stateOf(stats) : reasonOf(error)
      if (found === seen) return
      seen = found
      poll()
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
