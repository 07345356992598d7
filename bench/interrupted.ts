/**
 * Work that an interrupted run must undo at once: processes, some in groups of their own, and
 * directories of gigabytes. The last one made is undone first, so that no process still writes to a
 * directory when it is removed.
 */
const made = new Set<() => unknown>()
let isWatching = false

/** @returns a function that forgets it, for work that was undone normally */
export function onInterrupt(undo: () => unknown): () => void {
  if (!isWatching) {
    isWatching = true
    // Only once: a second signal ends the process immediately.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, undoAll)
  }
  made.add(undo)
  return () => made.delete(undo)
}

async function undoAll(): Promise<void> {
  // What was interrupted fails because its parts are undone here.
  process.on('uncaughtException', () => {})
  for (const undo of [...made].toReversed()) {
    try {
      await undo()
    } catch (error) {
      console.error(error)
    }
  }
  process.exit(1)
}
