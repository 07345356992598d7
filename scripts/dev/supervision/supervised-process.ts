import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { handOver } from '../../../src/supervisor/hand-over.js'
import { type Backoff, backoffMs, DEFAULT_BACKOFF } from './backoff.js'
import { logSize, openLog, tailLog } from './log-file.js'

/**
 * One supervised child: started, watched, restarted with growing delays when it ends by itself, and
 * stopped gracefully. The child has its own session, so that Ctrl-C reaches it only through its
 * supervisor, which decides the order of stopping.
 */
export interface SupervisedProcess {
  readonly name: string
  /** The pid of the running child; null between two. */
  readonly pid: number | null
  /**
   * Starts it for the first time.
   * @throws StartFailure
   */
  start(): Promise<void>
  /**
   * Replaces the running child, which ends once the new one can take over. The program must support
   * it (`src/supervisor/hand-over.ts`).
   * @throws Error when it was not replaced; the old one continues, or is restarted as usual
   */
  replace(): Promise<void>
  /** Stops it for good as the spec says, and with SIGKILL when that takes too long. */
  stop(): Promise<void>
}

export interface ProcessSpec {
  readonly name: string
  /** Called before each start, because arguments may depend on the last run. */
  readonly launch: () => Promise<Launch>
  /**
   * `ipc` children end by themselves when the channel closes, and send `{ type: 'ready' }`, which
   * is awaited without `awaitReady`.
   */
  readonly channel: 'ipc' | 'none'
  /** Resolves when the child serves; aborted when it ended or took too long. */
  readonly awaitReady?: (signal: AbortSignal) => Promise<void>
  /** The signal that asks it to end; SIGTERM by default. */
  readonly stopSignal?: NodeJS.Signals
  readonly readyTimeoutMs: number
  readonly stopTimeoutMs: number
  readonly logPath: string
  readonly backoff?: Backoff
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** The default is this process's own user. */
  readonly user?: ProcessUser
  readonly cwd?: string
}

export interface ProcessUser {
  readonly uid: number
  readonly gid: number
}

export interface ProcessObserver {
  onSpawn(pid: number): void
  onExit(pid: number): void
  /** Called when a child that ended by itself serves again, under a new pid. */
  onRestarted(process: SupervisedProcess): void
  say(line: string): void
}

export class StartFailure extends Error {
  override readonly name = 'StartFailure'

  /** @param logTail the child's last lines */
  constructor(message: string, logTail: readonly string[]) {
    super([message, ...logTail.map((line) => `    ${line}`)].join('\n'))
  }
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface LiveChild {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
  readonly startedMs: number
}

const TAIL_LINES = 15

export function superviseProcess(spec: ProcessSpec, observer: ProcessObserver): SupervisedProcess {
  const backoff = spec.backoff ?? DEFAULT_BACKOFF
  const stopping = new AbortController()
  let live: LiveChild | null = null
  /** The child that takes over once it serves; null when it does not. */
  let replacing: Promise<LiveChild | null> | null = null
  let keptAlive: Promise<void> = Promise.resolve()

  async function startChild(): Promise<LiveChild> {
    const launch = await spec.launch()
    stopping.signal.throwIfAborted()
    const logStart = logSize(spec.logPath)
    const child = spawnChild(spec, launch, observer)
    makeLive(child)
    try {
      await readiness(spec, child)
    } catch (error) {
      await endChild(child, spec)
      const reason = error instanceof Error ? error.message : String(error)
      const tail = tailLog(spec.logPath, TAIL_LINES, logStart).filter((line) => line !== '')
      throw new StartFailure(`${spec.name} did not start: ${reason}`, tail)
    }
    return child
  }

  function makeLive(child: LiveChild): void {
    live = child
    void child.ended.then(() => {
      if (live === child) live = null
    })
  }

  async function takeOver(old: LiveChild): Promise<LiveChild> {
    const launch = await spec.launch()
    const started: LiveChild[] = []
    const process = await handOver(old.process, (args) => {
      const child = spawnChild(spec, { ...launch, args: [...launch.args, ...args] }, observer)
      started.push(child)
      return child.process
    })
    const next = started.find((child) => child.process === process)
    if (next === undefined) throw new Error(`${spec.name} was replaced by nothing`)
    makeLive(next)
    return next
  }

  async function keepAlive(first: LiveChild): Promise<void> {
    let child = first
    let failures = 0
    for (;;) {
      const ended = await child.ended
      const successor = await replacing
      if (stopping.signal.aborted) return
      if (successor !== null) {
        child = successor
        observer.say(`${spec.name} was replaced (pid ${child.process.pid})`)
        observer.onRestarted(supervised)
        continue
      }
      if (Date.now() - child.startedMs >= backoff.provenAfterMs) failures = 0
      let next: LiveChild | null = null
      let reason = `ended (${describeEnd(ended)})`
      while (next === null) {
        const delayMs = backoffMs(backoff, failures++)
        observer.say(`${spec.name} ${reason}; starting it again in ${delayMs / 1000} s`)
        try {
          await delay(delayMs, undefined, { signal: stopping.signal })
          next = await startChild()
        } catch (error) {
          if (stopping.signal.aborted) return
          reason = error instanceof Error ? error.message : String(error)
        }
      }
      child = next
      observer.say(`${spec.name} is back (pid ${child.process.pid})`)
      observer.onRestarted(supervised)
    }
  }

  const supervised: SupervisedProcess = {
    name: spec.name,
    get pid() {
      return live?.process.pid ?? null
    },
    async start() {
      keptAlive = keepAlive(await startChild())
    },
    async replace() {
      if (live === null || replacing !== null || stopping.signal.aborted) {
        throw new Error(`${spec.name} does not run, or is being replaced`)
      }
      const work = takeOver(live)
      replacing = work.catch(() => null)
      try {
        await work
      } finally {
        replacing = null
      }
    },
    async stop() {
      stopping.abort()
      await replacing
      if (live !== null) await endChild(live, spec)
      await keptAlive
    },
  }
  return supervised
}

function spawnChild(spec: ProcessSpec, launch: Launch, observer: ProcessObserver): LiveChild {
  const log = openLog(spec.logPath)
  try {
    const child = spawn(launch.command, launch.args, {
      env: launch.env,
      ...launch.user,
      ...(launch.cwd === undefined ? {} : { cwd: launch.cwd }),
      detached: true,
      stdio: spec.channel === 'ipc' ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    })
    const ended = new Promise<Ended>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      child.once('error', () => {
        if (child.pid === undefined) resolve({ code: null, signal: null })
      })
    })
    const { pid } = child
    if (pid !== undefined) {
      observer.onSpawn(pid)
      void ended.then(() => observer.onExit(pid))
    }
    return { process: child, ended, startedMs: Date.now() }
  } finally {
    closeSync(log)
  }
}

/** Rejects when the child ends or does not become ready in time. */
async function readiness(spec: ProcessSpec, child: LiveChild): Promise<void> {
  const over = new AbortController()
  const timer = setTimeout(
    () => over.abort(new Error(`not ready after ${spec.readyTimeoutMs / 1000} s`)),
    spec.readyTimeoutMs,
  )
  void child.ended.then((ended) => over.abort(new Error(`it ended (${describeEnd(ended)})`)))
  const aborted = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true })
  })
  try {
    if (spec.awaitReady) await Promise.race([spec.awaitReady(over.signal), aborted])
    else if (spec.channel === 'ipc') await Promise.race([readyMessage(child.process), aborted])
  } finally {
    clearTimeout(timer)
    over.abort()
    aborted.catch(() => undefined)
  }
}

function readyMessage(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', function onMessage(message: unknown) {
      if (typeof message !== 'object' || message === null) return
      if (!('type' in message) || message.type !== 'ready') return
      child.removeListener('message', onMessage)
      resolve()
    })
  })
}

async function endChild(
  child: LiveChild,
  { stopSignal, stopTimeoutMs }: Pick<ProcessSpec, 'stopSignal' | 'stopTimeoutMs'>,
): Promise<void> {
  child.process.kill(stopSignal ?? 'SIGTERM')
  const timer = setTimeout(() => child.process.kill('SIGKILL'), stopTimeoutMs)
  await child.ended
  clearTimeout(timer)
}

function describeEnd({ code, signal }: Ended): string {
  if (signal !== null) return signal
  return code === null ? 'it could not be executed' : `exit code ${code}`
}
