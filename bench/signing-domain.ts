import { type ChildProcess, fork } from 'node:child_process'

/** One of the other two processes of the quorum, started from its built entry point. */
export interface Domain {
  readonly pid: number
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

const READY_TIMEOUT_MS = 10_000
const ERROR_TAIL_CHARS = 4_000

/** @throws Error with the end of its stderr when it does not become ready */
export async function startDomain(entry: string, env: Record<string, string>): Promise<Domain> {
  const child = fork(entry, [], {
    env: { PATH: process.env.PATH ?? '', COUNTERSIGN_MODE: 'dev', ...env },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-ERROR_TAIL_CHARS)
  })
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const ready = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${entry} is not ready`)), READY_TIMEOUT_MS)
    child.on('message', (message) => {
      if ((message as { type?: unknown }).type !== 'ready') return
      clearTimeout(timer)
      resolve()
    })
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`${entry} ended with ${String(code)}: ${errors}`))
    })
  })
  try {
    await ready
  } catch (error) {
    await end(child, gone)
    throw error
  }
  return {
    pid: child.pid ?? 0,
    kill: () => end(child, gone),
    stop() {
      child.kill('SIGTERM')
      return gone
    },
  }
}

async function end(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await gone
}
