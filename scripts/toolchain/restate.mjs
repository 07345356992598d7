/**
 * Restate's server, which tests of a journal on it and `npm run cluster -- --journal restate` start:
 * hundreds of megabytes that nothing else needs, so it is not a dependency, but in a cache beside
 * other projects' clones. Its license (BSL) permits this use.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { announce } from './console.mjs'

const VERSION = '1.7.12'
const PACKAGES = ['@restatedev/restate-server', '@restatedev/restatectl']
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'countersign')

/** The programs in Restate's packages. */
const PROGRAMS = ['restate-server', 'restatectl']

/**
 * @returns {Record<string, string>} the environment variables that name the programs
 * @throws Error when npm has none for this machine, or cannot be reached
 */
export function ensureRestate() {
  const directory = join(CACHE, `restate-${VERSION}`)
  if (!programsIn(directory).every(existsSync)) install(directory)
  const [server = '', control = ''] = programsIn(directory)
  return { RESTATE_SERVER: server, RESTATECTL: control }
}

/** @param {string} directory */
function programsIn(directory) {
  return PROGRAMS.map((program) =>
    join(
      directory,
      'node_modules/@restatedev',
      `${program}-${process.platform}-${process.arch}`,
      'bin',
      program,
    ),
  )
}

/** @param {string} directory in whose place nothing is that was left half done */
function install(directory) {
  announce(
    `installing Restate ${VERSION}, which a journal in it needs (about 240 MB in ${directory})`,
  )
  const half = `${directory}.${process.pid}`
  mkdirSync(half, { recursive: true })
  writeFileSync(join(half, 'package.json'), '{ "private": true }\n')
  // Their scripts only report the installation to the maker.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact']
  const wanted = PACKAGES.map((name) => `${name}@${VERSION}`)
  const { status, stderr } = spawnSync('npm', ['install', ...flags, ...wanted], {
    cwd: half,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm install of Restate failed:\n${stderr}`)
  const missing = programsIn(half).find((path) => !existsSync(path))
  if (missing !== undefined) {
    throw new Error(`npm has no Restate for ${process.platform}-${process.arch}: ${missing}`)
  }
  rmSync(directory, { recursive: true, force: true })
  renameSync(half, directory)
}
