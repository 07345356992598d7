import { readdirSync, readFileSync } from 'node:fs'

/** What a process holds, from /proc; Linux only. */
export interface Held {
  /** All resident pages. Those of the store's map count here, though the kernel may drop them. */
  readonly residentBytes: number
  /** Resident pages that are its own: heaps, stacks, buffers. */
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
