import { isRunning, type ProcessIdentity, signalProcess } from './process-identity.js'
import { LISTENING, type ReaperMessage } from './reaper-protocol.js'

/**
 * Ends the supervisor's children when the supervisor ended without doing so (SIGKILL, a crash). The
 * operating system closes the channel between the two however the supervisor ends, so this process
 * needs no timer and no polling.
 */
const GRACE_MS = 10_000
const POLL_MS = 50

const watched = new Map<number, ProcessIdentity>()

process.on('message', (message: ReaperMessage) => {
  if (message.type === 'watch') watched.set(message.process.pid, message.process)
  else if (message.type === 'forget') watched.delete(message.pid)
  else process.exit(0)
})
process.on('disconnect', () => {
  for (const child of watched.values()) signalProcess(child, 'SIGTERM')
  const deadlineMs = Date.now() + GRACE_MS
  setInterval(() => {
    const left = [...watched.values()].filter(isRunning)
    if (left.length > 0 && Date.now() < deadlineMs) return
    for (const child of left) signalProcess(child, 'SIGKILL')
    process.exit(0)
  }, POLL_MS)
})
// The supervisor handles a signal to the whole process group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
// Sent now, because a channel that closed while this module was loading would have gone unnoticed.
process.send?.(LISTENING)
