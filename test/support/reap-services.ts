import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The directory of this test run, which the workers of all projects share. */
    runDirectory: string
  }
}

/** Holds one empty file per running service, named by its supervisor's pid. */
export const SUPERVISORS = 'supervisors'

/** One directory for all projects of a run, each of which runs this set-up. */
const RUN = `countersign-run-${process.pid}-${Math.floor(performance.timeOrigin)}`

/**
 * Global set-up of tests that start services. A test file that is killed cannot stop its services;
 * this set-up finds them by pid. The chains and processes of a supervisor end with it.
 */
export default function setup(project: TestProject): () => void {
  const directory = join(tmpdir(), RUN)
  const supervisors = join(directory, SUPERVISORS)
  mkdirSync(supervisors, { recursive: true })
  project.provide('runDirectory', directory)
  return () => {
    if (!existsSync(supervisors)) return
    for (const pid of readdirSync(supervisors).map(Number)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The process has ended in the meantime.
      }
    }
    rmSync(directory, { recursive: true, force: true })
  }
}
