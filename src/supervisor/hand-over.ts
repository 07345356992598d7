import type { ChildProcess } from 'node:child_process'

/**
 * Puts a new wallet service in the place of one that runs. The new one comes up as far as it can
 * without the home, says so, and then the old one is told to end: one that does not come up costs
 * nothing, since the old one was told nothing yet.
 */

/** Argument of a service that waits for its predecessor's end. */
export const SUCCESSOR = '--successor'
/** What it says then; `ready` follows when it serves. */
export const READY_TO_TAKE_OVER = 'ready-to-take-over'
/** What the old one is told before it is told to end: its successor is of the same home. */
export const SUCCESSOR_WAITS = 'successor-waits'

/** To load the program, on a machine that is busy with the old one. */
const COMES_UP_MS_MAX = 60_000
/** To open the store, wake what was at work and see a block. */
const SERVES_MS_MAX = 120_000
/** Longer than a service takes to end by itself. */
const ENDS_MS_MAX = 25_000

/** A sentence about why it was not replaced; the old one goes on. */
export class NotReplaced extends Error {
  override readonly name = 'NotReplaced'
}

/**
 * @param start starts a service with these arguments and an IPC channel
 * @returns the new one, once it serves and the old one is gone
 * @throws NotReplaced while the old one still serves; Error when the new one does not serve after it
 */
export async function handOver(
  old: ChildProcess,
  start: (args: readonly string[]) => ChildProcess,
): Promise<ChildProcess> {
  const next = start([SUCCESSOR])
  // Listened to from the start: what it says is said once.
  const serves = heard(next, 'ready', COMES_UP_MS_MAX + ENDS_MS_MAX + SERVES_MS_MAX)
  serves.catch(() => undefined)
  try {
    await heard(next, READY_TO_TAKE_OVER, COMES_UP_MS_MAX)
  } catch (error) {
    await end(next)
    throw new NotReplaced(`The new one did not come up, so the old one goes on: ${said(error)}`)
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

/** One that is gone, or closes its channel, hears nothing. */
function tell(child: ChildProcess, type: string): Promise<void> {
  return new Promise((resolve) => {
    if (child.connected) child.send({ type }, () => resolve())
    else resolve()
  })
}

/** SIGTERM, and SIGKILL when that takes longer than a service needs. */
async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDS_MS_MAX)
  await gone
  clearTimeout(timer)
}

/** @throws Error when it ends, or says nothing of the kind in time */
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
      () => over(() => reject(new Error(`nothing was heard in ${timeoutMs / 1_000} s`))),
      timeoutMs,
    )
    child.on('message', onMessage)
    child.once('exit', onExit)
    if (child.pid === undefined) over(() => reject(new Error('it could not be started')))
    else if (hasEnded(child)) onExit(child.exitCode, child.signalCode)
  })
}

/** Also one that could not be started, which emits no `exit`. */
export function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
