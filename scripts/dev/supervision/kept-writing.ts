/**
 * A file that states the present situation. When it cannot be written (a full disk), that is
 * reported once, and the write is retried until the file is up to date.
 */
export interface KeptFile {
  /** Writes now, and again later if that fails. It never throws. */
  refresh(): void
  close(): void
}

const RETRY_MS = 1_000

/** @param name for messages */
export function keepWriting(
  name: string,
  write: () => void,
  say: (line: string) => void,
): KeptFile {
  let retry: NodeJS.Timeout | null = null
  let failing = false
  let closed = false

  function refresh(): void {
    if (closed) return
    try {
      write()
      if (failing) say(`${name} is written again`)
      failing = false
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (!failing) say(`${name} cannot be written (${reason}); trying on`)
      failing = true
      if (retry !== null) return
      retry = setTimeout(() => {
        retry = null
        refresh()
      }, RETRY_MS)
      retry.unref()
    }
  }

  return {
    refresh,
    close() {
      closed = true
      if (retry !== null) clearTimeout(retry)
    },
  }
}
