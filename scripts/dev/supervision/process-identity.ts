import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Distinguishes a process from a later one with the same pid by its start time. Every signal or
 * check that uses a stored pid goes through this module.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Opaque; equal for the same process only. */
  readonly startedAt: string
}

/** Field 22 of /proc/<pid>/stat (proc(5)), counted from the field after the command's name. */
const START_TIME_FIELD = 22 - 3
const STATE_FIELD = 3 - 3

/** @returns null when no such process runs; a zombie does not count */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === 'linux' ? startedAtLinux(pid) : startedAtPosix(pid)
  return startedAt === null ? null : { pid, startedAt }
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt
}

/** Signals the process if it is still the same one. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isRunning(identity)) return
  try {
    process.kill(identity.pid, signal)
  } catch {
    // It ended between the check and the signal.
  }
}

function startedAtLinux(pid: number): string | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // The name is in parentheses and may contain spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields[STATE_FIELD]
  return state === 'Z' || state === 'X' ? null : (fields[START_TIME_FIELD] ?? null)
}

function startedAtPosix(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '')
  } catch {
    return null
  }
}
