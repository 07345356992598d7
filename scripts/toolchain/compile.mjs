/**
 * Transpiles every TypeScript file to dist, one to one, with source maps, and copies JSON. A manifest records each
 * source's size and modification time, so that an unchanged tree costs a walk and no compiler.
 * Types are checked by `npm run check`, not here.
 */
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
import { ROOT } from './console.mjs'

const SOURCE_DIRS = ['src', 'actors', 'bench', 'scripts']
const SOURCE = /\.(ts|json)$/
const DECLARATION = /\.d(\.\w+)?\.ts$/
const DIST = join(ROOT, 'dist')
const MANIFEST = join(DIST, '.manifest.json')
/** Raised when the options below change: what was built with others is stale. */
const FORMAT = 2

const OPTIONS = {
  loader: /** @type {const} */ ('ts'),
  format: /** @type {const} */ ('esm'),
  platform: /** @type {const} */ ('node'),
  // Import attributes of JSON came with 20.10.
  target: 'node20.19',
  sourcemap: /** @type {const} */ ('external'),
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true, target: 'ES2023' } },
}

/** @returns {string[]} sources, relative to the root, whose output is missing or older */
export function staleSources() {
  const built = readManifest()
  const present = stampSources()
  const changed = [...present].filter((source) => isStale(source, built))
  const gone = [...built.keys()].filter((path) => !present.has(path))
  return [...changed.map(([path]) => path), ...gone]
}

/**
 * A file that does not parse keeps its old output; the others are written all the same.
 * @returns {Promise<{ compiled: number, removed: number }>}
 * @throws Error that shows each parse error with its place
 */
export async function compileStale() {
  const built = readManifest()
  if (built.size === 0) {
    for (const dir of SOURCE_DIRS) rmSync(join(DIST, dir), { recursive: true, force: true })
  }
  const present = stampSources()
  const gone = [...built.keys()].filter((path) => !present.has(path))
  for (const path of gone) {
    const output = outputOf(path)
    rmSync(output, { force: true })
    rmSync(`${output}.map`, { force: true })
    built.delete(path)
  }
  const changed = [...present].filter((source) => isStale(source, built))
  const errors = changed.length === 0 ? [] : await compile(changed, built)
  if (changed.length + gone.length > 0) {
    writeAtomically(
      MANIFEST,
      JSON.stringify({ format: FORMAT, sources: Object.fromEntries(built) }),
    )
  }
  if (errors.length > 0) throw new Error(`the build failed:\n${errors.join('\n')}`)
  return { compiled: changed.length, removed: gone.length }
}

/**
 * @param {[string, string][]} changed path and stamp of each
 * @param {Map<string, string>} built gains an entry for each file that compiled
 * @returns {Promise<string[]>} formatted errors
 */
async function compile(changed, built) {
  const esbuild = await import('esbuild')
  try {
    const results = await Promise.allSettled(
      changed.map(async ([path, stamp]) => {
        const output = outputOf(path)
        const sourcefile = relative(dirname(output), join(ROOT, path))
        const text = readFileSync(join(ROOT, path), 'utf8')
        mkdirSync(dirname(output), { recursive: true })
        if (path.endsWith('.json')) {
          writeAtomically(output, text)
          built.set(path, stamp)
          return
        }
        const { code, map } = await esbuild.transform(text, { ...OPTIONS, sourcefile })
        writeAtomically(`${output}.map`, map)
        const mapName = output.slice(output.lastIndexOf('/') + 1)
        writeAtomically(output, `${code}//# sourceMappingURL=${mapName}.map\n`)
        built.set(path, stamp)
      }),
    )
    return results.flatMap((result) =>
      result.status === 'rejected' ? [String(result.reason)] : [],
    )
  } finally {
    // The compiler is a process of its own that would live as long as this one.
    await esbuild.stop()
  }
}

/** @param {[string, string]} source @param {Map<string, string>} built */
function isStale([path, stamp], built) {
  return built.get(path) !== stamp || !existsSync(outputOf(path))
}

/** @returns {Map<string, string>} path relative to the root → stamp */
function stampSources() {
  const stamps = new Map()
  for (const dir of SOURCE_DIRS) {
    for (const entry of readdirSync(join(ROOT, dir), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !SOURCE.test(entry.name) || DECLARATION.test(entry.name)) continue
      const absolute = join(entry.parentPath ?? entry.path, entry.name)
      const stat = statSync(absolute, { throwIfNoEntry: false })
      if (stat !== undefined) stamps.set(relative(ROOT, absolute), `${stat.mtimeMs}:${stat.size}`)
    }
  }
  return stamps
}

/** @returns {Map<string, string>} empty when nothing usable was built */
function readManifest() {
  try {
    const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'))
    if (manifest.format === FORMAT) return new Map(Object.entries(manifest.sources))
  } catch {
    // Absent or cut short: everything is built anew.
  }
  return new Map()
}

/** @param {string} path */
function outputOf(path) {
  return join(DIST, path.replace(/\.ts$/, '.js'))
}

/** A process that starts meanwhile reads the old file or the new one, never half of one. */
function writeAtomically(path, text) {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}
