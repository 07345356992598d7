import { explainError } from './explain-error.js'
import { type ShutdownStack, shutdownStack } from './supervision/shutdown-stack.js'

/** A command that runs until Ctrl-C, and whose processes end with it. */
export interface Foreground {
  /** Closed when the command ends for any reason. */
  readonly shutdown: ShutdownStack
  readonly say: (line: string) => void
  readonly complain: (error: unknown) => void
  /** Handles `countersign restart`; SIGHUP means a closed terminal. */
  onRestart(restart: () => Promise<void>): void
}

/** @param begin starts everything, and prints the banner */
export async function inForeground(begin: (foreground: Foreground) => Promise<void>) {
  const say = (line: string): void => {
    process.stdout.write(`countersign  ${line}\n`)
  }
  const complain = (error: unknown): void => {
    process.stderr.write(`countersign: ${explainError(error)}\n`)
  }
  // Only this user can read its files and those of every process that it starts.
  process.umask(0o077)

  const shutdown = shutdownStack()
  let stopping = false
  let restart: (() => Promise<void>) | null = null

  async function stop(exitCode: number): Promise<void> {
    if (stopping) return
    stopping = true
    await shutdown.close(complain)
    process.exit(exitCode)
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) return
      say(`stopping (${signal})`)
      void stop(0)
    })
  }
  process.on('SIGUSR2', () => {
    if (!stopping) void restart?.().catch(complain)
  })
  process.on('uncaughtException', (error) => {
    complain(error)
    void stop(1)
  })
  // When the reader of the output closes the pipe, the processes keep running.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

  try {
    await begin({
      ...{ shutdown, say, complain },
      onRestart(wanted) {
        restart = wanted
      },
    })
  } catch (error) {
    // An interrupted start fails because its processes were stopped.
    if (!stopping) {
      complain(error)
      await stop(1)
    }
  }
}

const DEFAULT_PORT = '8080'

/** @throws Error unless PORT is a port one can listen on */
export function portOf(environment: NodeJS.ProcessEnv): number {
  const text = environment.PORT || DEFAULT_PORT
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    throw new Error(`PORT must be a number from 1 to 65535, not ${text}`)
  }
  return port
}
