/**
 * What a run that is broken off must undo at once: processes, some in groups of their own, and
 * directories of gigabytes. The last that was made is undone first, so that nothing writes to a
 * directory any more when it goes.
 */
const made = new Set<() => unknown>()
let isWatching = false

/** @returns forgets it again, when it was undone in the ordinary way */
export function onInterrupt(undo: () => unknown): () => void {
  if (!isWatching) {
    isWatching = true
    // Once: a second signal ends the process as it is.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, undoAll)
  }
  made.add(undo)
  return () => made.delete(undo)
}

async function undoAll(): Promise<void> {
  // What was broken off fails for want of what is undone here.
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
