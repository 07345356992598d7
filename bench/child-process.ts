import { type ChildProcess, fork } from 'node:child_process'
import type { Readable } from 'node:stream'
import { onInterrupt } from './interrupted.js'

/** A process of a measurement, started from its built entry point. */
export interface Child {
  readonly pid: number
  /** Its `ready` message, including further fields. */
  readonly ready: Readonly<Record<string, unknown>>
  /** The last output; in a measurement, only the last errors. */
  said(): string
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** Sends SIGTERM, and SIGKILL if that takes long; resolves with the exit code. */
  stop(): Promise<number | null>
}

const READY_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 10_000
const TAIL_CHARS = 4_000

/**
 * A test needs to know why a process ended; in a measurement, reading its log would be extra work.
 */
const KEEPS_LOGS = process.env.VITEST !== undefined

/**
 * Starts a process and waits until it is ready.
 * @param entry such as `dist/src/main.js`
 * @param signal kills it, ready or not, because a waiting process may never be ready
 * @throws Error with its last output if it does not become ready
 */
export async function startChild(
  entry: string,
  env: Record<string, string>,
  signal?: AbortSignal,
): Promise<Child> {
  const { readiness, ...child } = begin(entry, env)
  signal?.addEventListener('abort', () => void child.kill(), { once: true })
  try {
    return { ...child, ready: await readiness }
  } catch (error) {
    await child.kill()
    throw error
  }
}

/** Starts a process that waits for something and is not ready before that. */
export function startWaiting(entry: string, env: Record<string, string>): Omit<Child, 'ready'> {
  const { readiness, ...child } = begin(entry, env)
  readiness.catch(() => undefined)
  return child
}

interface Begun extends Omit<Child, 'ready'> {
  readonly readiness: Promise<Record<string, unknown>>
}

function begin(entry: string, env: Record<string, string>): Begun {
  const child = fork(entry, [], {
    env: { PATH: process.env.PATH ?? '', COUNTERSIGN_MODE: 'dev', ...env },
    execArgv: (process.env.BENCH_NODE_ARGUMENTS ?? '').split(' ').filter((it) => it !== ''),
    stdio: ['ignore', KEEPS_LOGS ? 'pipe' : 'ignore', 'pipe', 'ipc'],
  })
  const logs = tailOf(child.stdout)
  const errors = tailOf(child.stderr)
  const said = () => errors() + logs()
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const readiness = new Promise<Record<string, unknown>>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${entry} is not ready: ${said()}`)),
      READY_TIMEOUT_MS,
    )
    child.on('message', (message) => {
      if ((message as { type?: unknown }).type !== 'ready') return
      clearTimeout(timer)
      resolve({ ...(message as object) })
    })
    // On close instead of exit, because its last output may still be on its way.
    child.once('close', (code) => {
      clearTimeout(timer)
      reject(new Error(`${entry} ended with ${String(code)}: ${said()}`))
    })
  })
  const kill = () => end(child, gone)
  child.once('exit', onInterrupt(kill))
  return {
    pid: child.pid ?? 0,
    readiness,
    said,
    kill,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      const code = await gone
      clearTimeout(timer)
      return code
    },
  }
}

/** The end of a stream's output so far. */
function tailOf(stream: Readable | null): () => string {
  let tail = ''
  stream?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL_CHARS)
  })
  return () => tail
}

/** A number in a child's ready message, such as its port. @throws Error if it is missing */
export function numberOf(child: Child, field: string): number {
  const value = child.ready[field]
  if (typeof value !== 'number') throw new Error(`a child was ready without its ${field}`)
  return value
}

async function end(child: ChildProcess, gone: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await gone
}
