/**
 * Transpiles every TypeScript file to dist, one to one, with source maps, and copies JSON; the console, which runs in
 * browsers, is bundled. A manifest records each source's size and modification time, so that an unchanged tree
 * costs a walk and no compiler.
 * Types are checked by `npm run check`, not here.
 */

import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { bundleConsole, CONSOLE_ASSETS, CONSOLE_DIR, CONSOLE_INPUTS } from './bundle-console.mjs'
import { ROOT } from './console.mjs'

const SOURCE_DIRS = ['src', 'actors', 'bench', 'scripts']
const SOURCE = /\.(ts|json)$/
const DECLARATION = /\.d(\.\w+)?\.ts$/
const DIST = join(ROOT, 'dist')
const MANIFEST = join(DIST, '.manifest.json')
/** Raised when the options below change: what was built with others is stale. */
const FORMAT = 5

const OPTIONS = {
  absWorkingDir: ROOT,
  outbase: ROOT,
  outdir: DIST,
  write: false,
  logLevel: /** @type {const} */ ('silent'),
  loader: { '.json': /** @type {const} */ ('copy') },
  format: /** @type {const} */ ('esm'),
  platform: /** @type {const} */ ('node'),
  // Import attributes of JSON came with 20.10.
  target: 'node20.19',
  sourcemap: /** @type {const} */ ('linked'),
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true, target: 'ES2023' } },
}

/** @returns {string[]} sources, relative to the root, whose output is missing, older or left over */
export function staleSources() {
  const { changed, gone } = compareWithBuilt()
  return [...changed.keys(), ...gone]
}

/**
 * While any file does not parse, what is stale keeps its old output.
 * @returns {Promise<{ compiled: number, removed: number }>}
 * @throws Error that shows each parse error with its place
 */
export async function compileStale() {
  const { built, changed, gone } = compareWithBuilt()
  if (built.size === 0) {
    for (const dir of SOURCE_DIRS) rmSync(join(DIST, dir), { recursive: true, force: true })
  }
  if (changed.size > 0) await compile([...changed.keys()])
  for (const path of gone) {
    rmSync(outputOf(path), { force: true })
    rmSync(`${outputOf(path)}.map`, { force: true })
    built.delete(path)
  }
  if (changed.size + gone.length > 0) {
    const sources = Object.fromEntries([...built, ...changed])
    writeAtomically(MANIFEST, JSON.stringify({ format: FORMAT, sources }))
  }
  return { compiled: changed.size, removed: gone.length }
}

/** @param {string[]} entryPoints */
async function compile(entryPoints) {
  const esbuild = await import('esbuild')
  try {
    const modules = entryPoints.filter((path) => path !== CONSOLE_DIR)
    const { outputFiles } = await esbuild.build({ ...OPTIONS, entryPoints: modules })
    for (const { path, contents } of outputFiles) writeAtomically(path, contents)
    if (modules.length < entryPoints.length) {
      await bundleConsole(esbuild, join(DIST, CONSOLE_DIR), writeAtomically)
    }
  } catch (error) {
    throw new Error(`the build failed:\n${error.message}`)
  } finally {
    // The compiler is a process of its own that would live as long as this one.
    await esbuild.stop()
  }
}

/** @returns {{ built: Map<string, string>, changed: Map<string, string>, gone: string[] }} */
function compareWithBuilt() {
  const built = readManifest()
  const present = stampSources()
  const changed = new Map(
    [...present].filter(
      ([path, stamp]) => built.get(path) !== stamp || !existsSync(outputOf(path)),
    ),
  )
  return { built, changed, gone: [...built.keys()].filter((path) => !present.has(path)) }
}

/** @returns {Map<string, string>} path relative to the root → stamp */
function stampSources() {
  const stamps = new Map()
  const bundled = []
  for (const dir of SOURCE_DIRS) {
    for (const entry of readdirSync(join(ROOT, dir), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const absolute = join(entry.parentPath ?? entry.path, entry.name)
      const path = relative(ROOT, absolute)
      const isBundled = path.startsWith(`${CONSOLE_DIR}/`)
      if (!isBundled && (!SOURCE.test(entry.name) || DECLARATION.test(entry.name))) continue
      const stamp = stampOf(absolute)
      if (isBundled) bundled.push(`${path} ${stamp}`)
      else if (stamp !== null) stamps.set(path, stamp)
    }
  }
  if (bundled.length > 0) {
    for (const path of CONSOLE_INPUTS) bundled.push(`${path} ${stampOf(join(ROOT, path))}`)
    const stamp = createHash('sha256').update(bundled.sort().join('\n')).digest('hex')
    stamps.set(CONSOLE_DIR, stamp)
  }
  return stamps
}

/** @param {string} absolute @returns {string | null} null when it is gone meanwhile */
function stampOf(absolute) {
  const stat = statSync(absolute, { throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.mtimeMs}:${stat.size}`
}

/** @returns {Map<string, string>} empty when nothing usable was built */
function readManifest() {
  try {
    const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'))
    if (manifest.format === FORMAT) return new Map(Object.entries(manifest.sources))
  } catch {
    // Absent or cut short: everything is built again.
  }
  return new Map()
}

/** @param {string} path */
function outputOf(path) {
  if (path === CONSOLE_DIR) return join(DIST, CONSOLE_DIR, CONSOLE_ASSETS)
  return join(DIST, path.replace(/\.ts$/, '.js'))
}

/** A process that starts meanwhile reads the old file or the new one, never half of one. */
function writeAtomically(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}
