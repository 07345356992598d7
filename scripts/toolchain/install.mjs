/**
 * Dependencies are installed when they are missing or differ from package-lock.json. A stamp with
 * the lock file's hash makes the usual check cost one hash.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { announce, ROOT } from './console.mjs'

const LOCK_FILE = join(ROOT, 'package-lock.json')
const CACHE_DIR = join(ROOT, 'node_modules', '.cache')
const STAMP = join(CACHE_DIR, 'countersign-install')
/** npm's own record of the content of node_modules. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json')
const OUTPUT_HEAD_CHARS = 4_000

/** Installs every version exactly as in the lock file, which stays unchanged. */
const NPM_ARGUMENTS = ['ci', '--include=dev', '--no-audit', '--no-fund']

export function installIsCurrent() {
  const hash = createHash('sha256').update(readFileSync(LOCK_FILE)).digest('hex')
  if (readOrNull(STAMP) === hash) return true
  if (!installedMatchesLock()) return false
  // A person ran npm, and the result matches.
  writeStamp(hash)
  return true
}

/** @throws Error with npm's first lines, because its reason comes before its advice */
export async function installDependencies() {
  announce('installing dependencies (takes a minute or two the first time)')
  const startedMs = Date.now()
  const npm = process.env.npm_execpath
  const [command, prefix] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const child = spawn(command, [...prefix, ...NPM_ARGUMENTS, '--loglevel=error'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      output = (output + text).slice(0, OUTPUT_HEAD_CHARS)
    })
  }
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}:\n${output}`)
  writeStamp(createHash('sha256').update(readFileSync(LOCK_FILE)).digest('hex'))
  announce(`dependencies installed in ${Math.round((Date.now() - startedMs) / 1000)} s`)
}

/**
 * True when every package of the lock file is there in its version. Optional ones may be absent:
 * npm leaves out binaries of other platforms.
 */
function installedMatchesLock() {
  const installedText = readOrNull(INSTALLED)
  if (installedText === null) return false
  const wanted = JSON.parse(readFileSync(LOCK_FILE, 'utf8')).packages
  const installed = JSON.parse(installedText).packages
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true
    const present = installed[path]
    if (present === undefined) return entry.optional === true
    return present.version === entry.version && present.integrity === entry.integrity
  })
}

/** @param {string} hash */
function writeStamp(hash) {
  mkdirSync(CACHE_DIR, { recursive: true })
  writeFileSync(STAMP, hash)
}

/** @param {string} path @returns {string | null} */
function readOrNull(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
