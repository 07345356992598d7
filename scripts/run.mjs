/**
 * The first thing every npm script runs: makes a fresh clone usable (dependencies, build), then
 * becomes the wanted script. Plain JavaScript without dependencies, because it runs before either
 * exists. The script is imported rather than spawned: one process less between npm and the
 * service, and signals and exit codes are its own.
 *
 *   node scripts/run.mjs <script> [arguments]   dist/scripts/<script>.js, or dist/<script>.js
 *   node scripts/run.mjs --test [arguments]     vitest run
 *   node scripts/run.mjs --test-with <packages> [arguments]
 *                                               the same, with packages of the system, or `restate`, by commas
 *   node scripts/run.mjs --build                nothing more
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { announce, fail, ROOT } from './toolchain/console.mjs'

const NODE_MAJOR_MIN = 20
const NODE_MINOR_MIN = 19

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < NODE_MAJOR_MIN || (major === NODE_MAJOR_MIN && minor < NODE_MINOR_MIN)) {
  fail(
    `Countersign needs Node ${NODE_MAJOR_MIN}.${NODE_MINOR_MIN} or later; this is ${process.version} (${process.execPath}).`,
  )
}

const [target, ...rest] = process.argv.slice(2)
if (target === undefined) fail('usage: node scripts/run.mjs <script> [arguments]')

const { withSetupLock } = await import('./toolchain/lock.mjs')
const { installIsCurrent, installDependencies } = await import('./toolchain/install.mjs')
const { staleSources, compileStale } = await import('./toolchain/compile.mjs')

const needed = target === '--test-with' ? (rest.shift() ?? '').split(',') : []

try {
  for (const name of needed) {
    if (name === 'restate') {
      const { ensureRestate } = await import('./toolchain/restate.mjs')
      Object.assign(process.env, ensureRestate())
    } else {
      const { ensureSystemPackage } = await import('./toolchain/system-packages.mjs')
      ensureSystemPackage(name)
    }
  }
  if (!installIsCurrent() || staleSources().length > 0) {
    await withSetupLock(async () => {
      // Asked again under the lock: another process may have done the work meanwhile.
      if (!installIsCurrent()) await installDependencies()
      const { compiled } = await compileStale()
      if (compiled > 0) announce(`built ${compiled} file${compiled === 1 ? '' : 's'}`)
    })
  }
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}

process.setSourceMapsEnabled(true)
if (target.startsWith('--test')) await become('node_modules/vitest/vitest.mjs', ['run', ...rest])
else if (target !== '--build') await become(compiledScript(target), rest)

/** @param {string} script such as `dev/start` or `bench/signing` */
function compiledScript(script) {
  const candidates = [`dist/scripts/${script}.js`, `dist/${script}.js`]
  const found = candidates.find((path) => existsSync(join(ROOT, path)))
  if (found === undefined) fail(`there is no script ${script}: no scripts/${script}.ts`)
  return found
}

/** @param {string} path @param {string[]} args */
async function become(path, args) {
  const absolute = join(ROOT, path)
  process.argv = [process.execPath, absolute, ...args]
  await import(pathToFileURL(absolute).href)
}
