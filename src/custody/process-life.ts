/**
 * Tells the parent that the process is ready, and ends it cleanly on SIGTERM, SIGINT, and when a
 * parent with an IPC channel goes away. An unhandled rejection also ends it, as a failure, because
 * its unfinished work is unknown.
 * @param closeTimeoutMs how long open work may delay the end: longer than `close` itself waits
 */
export function runUntilStopped(
  name: string,
  closeTimeoutMs: number,
  close: () => Promise<void>,
): void {
  let stopping = false
  const end = (exitCode: number): void => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), closeTimeoutMs).unref()
    close().then(
      () => process.exit(exitCode),
      () => process.exit(1),
    )
  }
  const stop = () => end(0)
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // Without a listener this signal opens Node's inspector, which can read memory.
  process.on('SIGUSR1', () => {})
  process.on('unhandledRejection', (error) => {
    process.stderr.write(`${name}: unhandled ${error instanceof Error ? error.name : 'error'}\n`)
    end(1)
  })
  if (process.send !== undefined) {
    process.on('disconnect', stop)
    process.send({ type: 'ready' })
  }
}
