/**
 * Runs the tests that depend on the version of Node, on each supported version: the build, HTTP by
 * both adapters, the store, the custody protocol, and a send through the whole stack.
 *
 *   npm run test:long -- runtimes [20|22|24 …] [vitest arguments]    those versions; all of them
 *   npm run test:long -- runtimes --short [vitest arguments]         the newest, and less of each
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { announce, fail, ROOT } from './toolchain/console.mjs'

/** The binaries are those of the npm package `node`. */
const VERSIONS = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' }
const NEWEST = '24'
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'countersign', 'node')

const SHORT = [
  'test/http/connections.test.ts',
  'test/http/node-adapter.test.ts',
  'test/actors/store.test.ts',
  'test/custody/signing.test.ts',
  'test/runtimes',
]
const WHOLE = [
  'test/http',
  'test/mcp/endpoint.test.ts',
  'test/mcp/clients.test.ts',
  'test/actors/store.test.ts',
  'test/actors/store-schema.test.ts',
  'test/actors/damaged-store.test.ts',
  'test/actors/retention-crash.test.ts',
  'test/disk',
  'test/custody/signing.test.ts',
  'test/custody/signature-checks.test.ts',
  'test/custody/tampered-frames.test.ts',
  'test/custody/one-writer.test.ts',
  'test/custody/socket-access.test.ts',
  'test/runtimes',
]

const given = process.argv.slice(2)
const isShort = given.includes('--short')
const majors = given.filter((argument) => argument in VERSIONS)
const more = given.filter((argument) => argument !== '--short' && !(argument in VERSIONS))
const wanted = majors.length > 0 ? majors : isShort ? [NEWEST] : Object.keys(VERSIONS)

const failed = wanted.filter((major) => !passesOn(VERSIONS[major]))
if (failed.length > 0) fail(`the tests failed on Node ${failed.join(', ')}`)
if (!isShort && wanted.length > 1) compareHistories()

/** The simulator must draw the same from its seeds on every version. */
function compareHistories() {
  announce('the simulator, on each of them')
  const histories = wanted.map((major) => {
    const args = ['scripts/run.mjs', 'simulate', '--runs', '20']
    const { stdout } = spawnSync(nodeOf(VERSIONS[major]), args, { cwd: ROOT, encoding: 'utf8' })
    return /^traces (\w+)$/m.exec(stdout ?? '')?.[1] ?? 'none'
  })
  const isAlike = histories.every((history) => history === histories[0] && history !== 'none')
  if (!isAlike) fail(`the simulator's histories differ: ${histories.join(', ')}`)
}

/** @param {string} version */
function passesOn(version) {
  const node = nodeOf(version)
  announce(`Node ${version}`)
  const files = isShort ? SHORT : WHOLE
  return (
    run(node, ['scripts/run.mjs', '--build']) &&
    run(node, ['scripts/run.mjs', '--test', ...files, ...more])
  )
}

/** @param {string} version @returns {string} its binary, installed when it was not there */
function nodeOf(version) {
  if (process.versions.node === version) return process.execPath
  const directory = join(CACHE, version)
  const binary = join(directory, 'node_modules', 'node', 'bin', 'node')
  if (!existsSync(binary)) {
    announce(`installing Node ${version} into ${directory}`)
    mkdirSync(directory, { recursive: true })
    const install = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
    spawnSync('npm', [...install, '--prefix', directory, `node@${version}`], { stdio: 'inherit' })
  }
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' })
  if (stdout?.trim() !== `v${version}`) fail(`node@${version} brought no ${binary} that runs`)
  return binary
}

/** @param {string} node @param {string[]} args */
function run(node, args) {
  const env = { ...process.env, RUNTIMES: '1' }
  return spawnSync(node, args, { cwd: ROOT, env, stdio: 'inherit' }).status === 0
}
