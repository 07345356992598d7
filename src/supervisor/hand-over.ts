import type { ChildProcess } from 'node:child_process'

/**
 * Replaces a running wallet service. The new one starts as far as it can without the home and
 * reports that; only then the old one is told to end. A new service that does not start costs
 * nothing, because the old one was told nothing yet.
 */

/** The argument of a service that waits for its predecessor's end. */
export const SUCCESSOR = '--successor'
/** Its message when it is ready to take over; `ready` follows when it serves. */
export const READY_TO_TAKE_OVER = 'ready-to-take-over'
/** The message to the old service before it is told to end: its successor has the same home. */
export const SUCCESSOR_WAITS = 'successor-waits'

/** The time to load the program, on a machine that is busy with the old service. */
const COMES_UP_MS_MAX = 60_000
/** The time to open the store, load the actors at work and see a block. */
const SERVES_MS_MAX = 120_000
/** More than a service takes to end by itself. */
const ENDS_MS_MAX = 25_000

/** Explains why the service was not replaced; the old one continues. */
export class NotReplaced extends Error {
  override readonly name = 'NotReplaced'
}

/**
 * @param start starts a service with these arguments and an IPC channel
 * @returns the new service, once it serves and the old one is gone
 * @throws NotReplaced while the old one still serves; Error when the new one does not serve
 * afterwards
 */
export async function handOver(
  old: ChildProcess,
  start: (args: readonly string[]) => ChildProcess,
): Promise<ChildProcess> {
  const next = start([SUCCESSOR])
  // Listens from the start, because each message is sent once.
  const serves = heard(next, 'ready', COMES_UP_MS_MAX + ENDS_MS_MAX + SERVES_MS_MAX)
  serves.catch(() => undefined)
  try {
    await heard(next, READY_TO_TAKE_OVER, COMES_UP_MS_MAX)
  } catch (error) {
    await end(next)
    throw new NotReplaced(`The new service did not start, so the old one continues: ${said(error)}`)
  }
  await tell(old, SUCCESSOR_WAITS)
  await end(old)
  try {
    await serves
  } catch (error) {
    await end(next)
    throw error
  }
  return next
}

/** Sends a message; a process that is gone, or has closed its channel, does not receive it. */
function tell(child: ChildProcess, type: string): Promise<void> {
  return new Promise((resolve) => {
    if (child.connected) child.send({ type }, () => resolve())
    else resolve()
  })
}

/** Sends SIGTERM, and SIGKILL when the process takes longer than a service needs. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDS_MS_MAX)
  await gone
  clearTimeout(timer)
}

/** @throws Error when it ends, or does not send such a message in time */
function heard(child: ChildProcess, type: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (settle: () => void) => {
      clearTimeout(timer)
      child.off('message', onMessage)
      child.off('exit', onExit)
      settle()
    }
    const onMessage = (message: unknown) => {
      if ((message as { type?: unknown } | null)?.type === type) over(resolve)
    }
    const onExit = (code: number | null, signal: string | null) =>
      over(() => reject(new Error(`it ended with ${signal ?? code}`)))
    const timer = setTimeout(
      () => over(() => reject(new Error(`no message came within ${timeoutMs / 1_000} s`))),
      timeoutMs,
    )
    child.on('message', onMessage)
    child.once('exit', onExit)
    if (child.pid === undefined) over(() => reject(new Error('it could not be started')))
    else if (hasEnded(child)) onExit(child.exitCode, child.signalCode)
  })
}

/** True also for a process that could not be started, which emits no `exit`. */
export function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
