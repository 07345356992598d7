import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The process id of a process that has ended. */
export async function goneProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const { pid } = child
  await ended
  if (pid === undefined) throw new Error('no process was started')
  return pid
}
