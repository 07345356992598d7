import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inject } from 'vitest'
import { SUPERVISORS } from '../support/reap-services.js'

/** A process that is started again a second after it ended, however it ended, as by systemd. */
export interface KeptProcess {
  readonly name: string
  /** 0 while it is away. */
  readonly pid: number
  /** How often it was started. */
  readonly starts: number
  /** The end of what its lives wrote, and how each ended. */
  said(): string
  /** As the kernel does when memory is short. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Told to end by SIGTERM; it comes back as after any end. @returns its exit code */
  restart(): Promise<number | null>
  /** Ends it for good. */
  remove(): Promise<void>
}

/** The units' `RestartSec=1`. */
const RESTART_MS = 1_000
const STOP_MS_MAX = 25_000
const TAIL_CHARS = 16_000

/**
 * @param entry such as `dist/src/main.js`
 * @param env asked for at each start
 */
export function keepProcess(
  name: string,
  entry: string,
  env: () => Readonly<Record<string, string>>,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
): KeptProcess {
  let child: ChildProcess | null = null
  let starts = 0
  let tail = ''
  const ended = new AbortController()
  const note = (text: string) => {
    tail = (tail + text).slice(-TAIL_CHARS)
  }

  function start(): ChildProcess {
    starts++
    const started = fork(entry, args, {
      env: { PATH: process.env.PATH ?? '', COUNTERSIGN_MODE: 'dev', ...env() },
      execArgv: ['--enable-source-maps', ...execArgv],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    const pidFile = join(inject('runDirectory'), SUPERVISORS, String(started.pid))
    writeFileSync(pidFile, '')
    for (const stream of [started.stdout, started.stderr]) {
      stream?.setEncoding('utf8').on('data', note)
    }
    started.once('exit', () => rmSync(pidFile, { force: true }))
    return started
  }

  const keeping = (async () => {
    while (!ended.signal.aborted) {
      child = start()
      const [code, signal] = await once(child, 'exit')
      child = null
      note(`${name} ended: ${String(code ?? signal)}\n`)
      await delay(RESTART_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  })()

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child
    if (ending === null) return null
    const exited = once(ending, 'exit')
    ending.kill(signal)
    // One that stands still hears nothing.
    ending.kill('SIGCONT')
    const timer = setTimeout(() => ending.kill('SIGKILL'), STOP_MS_MAX)
    const [code] = await exited
    clearTimeout(timer)
    return code as number | null
  }

  return {
    name,
    get pid() {
      return child?.pid ?? 0
    },
    get starts() {
      return starts
    },
    said: () => tail,
    async kill() {
      await end('SIGKILL')
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    restart: () => end('SIGTERM'),
    async remove() {
      ended.abort()
      await end('SIGKILL')
      await keeping
    },
  }
}
