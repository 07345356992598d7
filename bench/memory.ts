import { readdirSync, readFileSync } from 'node:fs'

/** Memory of a process, from /proc; Linux only. */
export interface Held {
  /** All resident pages, including those of the store's map, which the kernel may drop. */
  readonly residentBytes: number
  /** Resident pages of its own: heaps, stacks, buffers. */
  readonly ownBytes: number
  /** Open files and sockets. */
  readonly handles: number
}

export function heldBy(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    residentBytes: field(status, 'VmRSS'),
    ownBytes: field(status, 'RssAnon'),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  }
}

export const MIB = 1024 * 1024

function field(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024
}
