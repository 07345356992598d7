import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './connection.js'
import { EXIT, UsageError } from './exit-codes.js'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Installs and builds first in a clone; a published package is already built. */
const TOOLCHAIN = 'scripts/run.mjs'

/**
 * Runs a script of the package in its own process, on this terminal, until it ends.
 * @param script such as `dev/start`
 * @returns its exit code
 * @throws UsageError when this installation has no such script
 */
export function runScript(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const root = packageRoot()
  const candidates = [[TOOLCHAIN, script], [`dist/scripts/${script}.js`]]
  const entry = candidates.find(([path = '']) => existsSync(join(root, path)))
  if (entry === undefined) throw new UsageError(`${script} is not part of this installation`)
  const [path = '', ...first] = entry
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', join(root, path), ...first, ...args],
      {
        stdio: 'inherit',
        env,
        cwd: process.cwd(),
      },
    )
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
