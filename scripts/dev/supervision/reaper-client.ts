import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { identifyProcess, type ProcessIdentity } from './process-identity.js'
import type { ReaperMessage } from './reaper-protocol.js'

/** The supervisor's end of the reaper; it starts another one when the reaper dies. */
export interface Reaper {
  /** Resolves once the reaper listens: children that start earlier may outlive a supervisor. */
  readonly listening: Promise<void>
  watch(pid: number): void
  forget(pid: number): void
  watched(): readonly ProcessIdentity[]
  dismiss(): void
}

const REAPER_ENTRY = fileURLToPath(new URL('./reaper.js', import.meta.url))

/** @param onChange called when the set of watched processes changed */
export function startReaper(onChange: () => void): Reaper {
  let listens = (): void => undefined
  const listening = new Promise<void>((resolve) => {
    listens = resolve
  })
  const watched = new Map<number, ProcessIdentity>()
  let dismissed = false
  let child = spawnReaper()

  function spawnReaper(): ChildProcess {
    // Its own session keeps it out of reach of signals to the supervisor's group.
    const reaper = fork(REAPER_ENTRY, {
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // Its only message.
    reaper.once('message', () => listens())
    reaper.once('exit', () => {
      if (dismissed) return
      child = spawnReaper()
      for (const process of watched.values()) send({ type: 'watch', process })
    })
    reaper.on('error', () => undefined)
    return reaper
  }

  function send(message: ReaperMessage): void {
    // A failed send means that the reaper is ending; its successor gets the full list again.
    if (child.connected) child.send(message, () => undefined)
  }

  return {
    listening,
    watch(pid) {
      const process = identifyProcess(pid)
      if (process === null) return
      watched.set(pid, process)
      send({ type: 'watch', process })
      onChange()
    },
    forget(pid) {
      if (!watched.delete(pid)) return
      send({ type: 'forget', pid })
      onChange()
    },
    watched: () => [...watched.values()],
    dismiss() {
      dismissed = true
      send({ type: 'dismiss' })
    },
  }
}
