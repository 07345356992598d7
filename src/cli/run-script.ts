import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './connection.js'
import { EXIT, UsageError } from './exit-codes.js'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a program of the package in a process of its own, on this terminal, until it ends.
 * @param entry path inside the package
 * @returns its exit code
 * @throws UsageError when the package has no such program
 */
export function runEntry(
  entry: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const path = join(packageRoot(), entry)
  if (!existsSync(path)) throw new UsageError(`${entry} is not part of this installation`)
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--enable-source-maps', path, ...args], {
      stdio: 'inherit',
      env,
      cwd: process.cwd(),
    })
    const forward = (signal: NodeJS.Signals) => child.kill(signal)
    for (const signal of FORWARDED) process.on(signal, forward)
    const done = () => {
      for (const signal of FORWARDED) process.off(signal, forward)
    }
    child.on('error', (error) => {
      done()
      reject(error)
    })
    child.on('exit', (code) => {
      done()
      resolve(code ?? EXIT.failed)
    })
  })
}
