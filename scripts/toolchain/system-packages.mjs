/**
 * Programs that npm does not provide and some tests need. They are installed where that is possible
 * without asking (root, on Debian or Ubuntu); otherwise the error names the command.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { announce } from './console.mjs'

/** The program of each Debian package, and its name on other systems. */
const PACKAGES = {
  softhsm2: { program: 'softhsm2-util', elsewhere: 'softhsm (Fedora, Homebrew)' },
  chromium: { program: process.env.CHROMIUM ?? 'chromium', elsewhere: 'a path in CHROMIUM' },
  prometheus: { program: 'promtool', elsewhere: "promtool of Prometheus's own releases" },
  // Debian keeps each version's server in its own folder, outside PATH.
  postgresql: { program: 'postgres', in: '/usr/lib/postgresql', elsewhere: 'a Debian or Ubuntu' },
  systemd: { program: 'systemd-analyze', elsewhere: 'a Linux with systemd' },
}

const INSTALL = ['install', '-y', '-qq', '--no-install-recommends']

/**
 * @param {string} name a key of PACKAGES
 * @throws Error that says what is missing and how to get it
 */
export function ensureSystemPackage(name) {
  const wanted = PACKAGES[name]
  if (wanted === undefined) {
    throw new Error(`no package ${name}: there are ${Object.keys(PACKAGES).join(', ')}`)
  }
  if (isWantedThere(wanted)) return
  const way = `apt-get install ${name}, or ${wanted.elsewhere}`
  if (process.getuid?.() !== 0 || !isThere('apt-get')) {
    throw new Error(`these tests need ${wanted.program}, which is not installed: ${way}`)
  }
  announce(`installing ${name}, which these tests need`)
  apt(['update', '-qq'], way)
  apt([...INSTALL, name], way)
  if (!isWantedThere(wanted)) throw new Error(`${name} did not provide ${wanted.program}: ${way}`)
}

/** @param {{ program: string, in?: string }} wanted */
function isWantedThere({ program, in: folder }) {
  if (folder === undefined) return isThere(program)
  const versions = existsSync(folder) ? readdirSync(folder) : []
  return versions.some((version) => isThere(join(folder, version, 'bin', program)))
}

/** @param {string} program */
function isThere(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined
}

/** @param {string[]} args @param {string} way */
function apt(args, way) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`apt-get ${args[0]} failed (${way}):\n${stderr}`)
}
