/**
 * The acceptance checks that lie beside a clone (`../shared/acceptance`), asked of a node that does not
 * own the journal. They are run as they are: each does `npm start` in the directory where it is run and asks
 * the address that `dev.json` has. So they are run in a package whose `start` is a cluster of two nodes,
 * and whose `dev.json` has the second one's address; or one of two cells, and the address of a node that has not
 * the user.
 *
 *   npm run test:long -- nodes-acceptance [write-path|sponsored|mcp …]    those; all of them
 *   npm run test:long -- cells-acceptance [write-path|sponsored|mcp …]    the same, with cells
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { announce, fail, ROOT } from './toolchain/console.mjs'
import { ensureSystemPackage } from './toolchain/system-packages.mjs'

const CHECKS = join(ROOT, '..', 'shared', 'acceptance')
const RUN = join(ROOT, 'scripts', 'run.mjs')

if (!existsSync(CHECKS)) fail(`the acceptance checks are not here: ${CHECKS} is not there`)
const there = readdirSync(CHECKS)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => basename(file, '.mjs'))
const isDealtOut = process.argv.includes('--cells')
const [asked, cluster] = isDealtOut
  ? ['at another cell', 'dev/cluster --nodes 2 --cells 2 --ask elsewhere']
  : ['at the second node', 'dev/cluster --nodes 2 --ask standby']
const given = process.argv.slice(2).filter((name) => name !== '--cells')
for (const name of given) {
  if (!there.includes(name)) fail(`there is no check ${name}: there are ${there.join(', ')}`)
}
try {
  ensureSystemPackage('postgresql')
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}
if (spawnSync(process.execPath, [RUN, '--build'], { stdio: 'inherit' }).status !== 0)
  process.exit(1)

const directory = mkdtempSync(join(tmpdir(), 'cs-acceptance-'))
let failed = []
try {
  const command = (rest) => `exec node '${RUN.replaceAll("'", `'\\''`)}' ${rest}`
  const scripts = {
    start: command(cluster),
    'dev:token': command('dev/token'),
    'dev:fund': command('dev/fund'),
  }
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, scripts }))
  failed = (given.length > 0 ? given : there).filter((name) => {
    announce(`acceptance: ${name}, ${asked}`)
    const check = join(CHECKS, `${name}.mjs`)
    return spawnSync(process.execPath, [check], { cwd: directory, stdio: 'inherit' }).status !== 0
  })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
if (failed.length > 0) fail(`not accepted ${asked}: ${failed.join(', ')}`)
