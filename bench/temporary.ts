import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onInterrupt } from './interrupted.js'

/** A directory of one measurement, which is also removed if a run is interrupted. */
export interface TemporaryDirectory {
  readonly path: string
  remove(): void
}

export function makeDirectory(): TemporaryDirectory {
  const path = mkdtempSync(join(tmpdir(), 'cs-bench-'))
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
    forget()
  }
  const forget = onInterrupt(remove)
  return { path, remove }
}
