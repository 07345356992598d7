import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessObserver } from '../../../scripts/dev/supervision/supervised-process.js'

/** Remembers what the supervisor said and did. */
export interface Recorder extends ProcessObserver {
  readonly lines: string[]
  readonly spawned: number[]
  restarts: number
}

export function recorder(): Recorder {
  const record: Recorder = {
    lines: [],
    spawned: [],
    restarts: 0,
    onSpawn: (pid) => record.spawned.push(pid),
    onExit: () => undefined,
    onRestarted: () => {
      record.restarts++
    },
    say: (line) => record.lines.push(line),
  }
  return record
}

/** Makes a directory that `dispose` removes. */
export function scratchDir(): { readonly path: string; dispose(): void } {
  const path = mkdtempSync(join(tmpdir(), 'cs-dev-'))
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // An orphan that ended stays a zombie until init looks after it; it is not alive.
  return !isZombie(pid)
}

function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}
