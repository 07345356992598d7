import { rmSync } from 'node:fs'
import { isPortFree } from './free-port.js'
import { lockHome } from './home/instance-lock.js'
import { type DevHome, prepareHome } from './home/layout.js'
import { type LastPorts, readLastPorts } from './ports.js'
import { keepWriting } from './supervision/kept-writing.js'
import { startReaper } from './supervision/reaper-client.js'
import type { ShutdownStack } from './supervision/shutdown-stack.js'
import type { ProcessObserver, SupervisedProcess } from './supervision/supervised-process.js'

export interface InstanceOptions {
  /** A name such as `npm start`. */
  readonly command: string
  readonly home: DevHome
  /** The service's port on 127.0.0.1. */
  readonly port: number
  /** Collects the undo of each step; the caller closes it after success or failure. */
  readonly shutdown: ShutdownStack
  readonly say: (line: string) => void
}

/** A home that only this command uses, and the supervision of its processes. */
export interface BegunInstance extends InstanceOptions {
  readonly observer: ProcessObserver
  readonly lastPorts: LastPorts
  readonly claimedPorts: Set<number>
  /** Starts a process, and stops it when the command ends. */
  run(supervised: SupervisedProcess): Promise<SupervisedProcess>
  /** Reports how long a step took. */
  timed<T>(step: string, work: () => Promise<T>): Promise<T>
  /** Calls the listener when a process that ended serves again. Only the last listener counts. */
  onRestarted(listener: () => void): void
}

/** @throws Error when another command uses the home, or the port is taken */
export async function beginInstance(options: InstanceOptions): Promise<BegunInstance> {
  const { command, home, port, shutdown, say } = options
  prepareHome(home)
  if (!(await isPortFree(port))) {
    throw new Error(`port ${port} is taken; stop what listens there, or set PORT to another one`)
  }
  const lock = lockHome(home, command)
  await shutdown.defer(() => lock.release())
  rmSync(home.devFile, { force: true })
  const children = keepWriting(
    'the list of processes',
    () => lock.recordChildren(reaper.watched()),
    say,
  )
  const reaper = startReaper(children.refresh)
  await shutdown.defer(() => children.close())
  await shutdown.defer(() => reaper.dismiss())
  await reaper.listening

  let restarted = (): void => undefined
  return {
    ...options,
    observer: {
      onSpawn: (pid) => reaper.watch(pid),
      onExit: (pid) => reaper.forget(pid),
      onRestarted: () => restarted(),
      say,
    },
    lastPorts: readLastPorts(home),
    claimedPorts: new Set([port]),
    async run(supervised) {
      await shutdown.defer(() => supervised.stop())
      await supervised.start()
      return supervised
    },
    async timed(step, work) {
      const startedMs = Date.now()
      const result = await work()
      say(`${step.padEnd(18)} ready in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`)
      return result
    },
    onRestarted(listener) {
      restarted = listener
    },
  }
}
