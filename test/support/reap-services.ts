import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Holds one empty file per running service, named by its supervisor's pid. */
    supervisorsDirectory: string
  }
}

/**
 * Global set-up of tests that start services. A test file that is killed cannot stop its own; what
 * it left behind is found here by pid. The chains and processes of a supervisor end with it.
 */
export default function setup(project: TestProject): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-supervisors-'))
  project.provide('supervisorsDirectory', directory)
  return () => {
    for (const pid of readdirSync(directory).map(Number)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended since.
      }
    }
    rmSync(directory, { recursive: true, force: true })
  }
}
