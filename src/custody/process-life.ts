/** How long open work may delay the end of a process. */
const CLOSE_TIMEOUT_MS = 3_000

/**
 * Tells the parent that the process is ready, and ends it cleanly on SIGTERM, SIGINT, and when a
 * parent that holds an IPC channel goes away.
 */
export function runUntilStopped(name: string, close: () => Promise<void>): void {
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref()
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // Without a listener this signal opens Node's inspector, through which memory can be read.
  process.on('SIGUSR1', () => {})
  process.on('unhandledRejection', (error) => {
    process.stderr.write(`${name}: unhandled ${error instanceof Error ? error.name : 'error'}\n`)
    stop()
  })
  if (process.send !== undefined) {
    process.on('disconnect', stop)
    process.send({ type: 'ready' })
  }
}
