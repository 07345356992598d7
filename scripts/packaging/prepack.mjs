/**
 * Builds what `npm pack` ships besides the sources' own output: the client's declarations, which
 * need the TypeScript compiler. The program itself is built as usual.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fail, ROOT } from '../toolchain/console.mjs'

rmSync(join(ROOT, 'dist', 'types'), { recursive: true, force: true })
const STEPS = [
  ['scripts/run.mjs', '--build'],
  ['node_modules/typescript/bin/tsc', '-p', 'scripts/packaging'],
]
for (const step of STEPS) {
  // npm reads the list of files from stdout.
  const { status } = spawnSync(process.execPath, step, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  if (status !== 0) fail(`${step.join(' ')} failed: there is no package`)
}
