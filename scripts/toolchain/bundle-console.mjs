/**
 * Builds the console (src/console) for browsers: a script for what every page needs, one for each page
 * that is loaded when it is visited, and one style sheet. Files have a hash of their content in their
 * names, so that browsers keep them for good, and are compressed ahead of time.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { ROOT } from './console.mjs'

export const CONSOLE_DIR = 'src/console'
/** Written last, so that every file that it names exists. */
export const CONSOLE_ASSETS = 'assets.json'
/** Colours, type and space that all pages of the service share; the style sheet imports it. */
const TOKENS_SOURCE = 'src/domain/page-palette.ts'
const TOKENS_IMPORT = 'countersign:tokens'
/** Inputs of the bundle besides the console's own files; the lock file stands for its packages. */
export const CONSOLE_INPUTS = [TOKENS_SOURCE, 'src/domain/chains.ts', 'package-lock.json']

/**
 * @param {typeof import('esbuild')} esbuild
 * @param {string} outDir absolute
 * @param {(path: string, contents: string | Uint8Array) => void} write a file, whole or not at all
 */
export async function bundleConsole(esbuild, outDir, write) {
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: ROOT,
    outdir: outDir,
    entryNames: '[name]-[hash]',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022', 'chrome109', 'firefox115', 'safari16'],
    legalComments: 'none',
    logLevel: 'silent',
    entryPoints: [{ in: `${CONSOLE_DIR}/main.tsx`, out: 'console' }],
    chunkNames: '[name]-[hash]',
    splitting: true,
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { 'process.env.NODE_ENV': '"production"' },
    // Packages that were written for React find Preact.
    alias: { react: 'preact/compat', 'react-dom': 'preact/compat' },
    plugins: [tokensPlugin(esbuild)],
  })
  mkdirSync(outDir, { recursive: true })
  const files = []
  for (const { path, contents } of outputFiles) {
    const name = basename(path)
    write(path, contents)
    write(`${path}.br`, brotli(contents))
    files.push(name)
  }
  files.sort()
  const style = files.find((name) => name.endsWith('.css'))
  const { script, preload } = firstLoaded(metafile.outputs)
  const others = new Set([script, ...preload])
  const lazy = files.filter((name) => name.endsWith('.js') && !others.has(name))
  const version = createHash('sha256').update(files.join()).digest('hex').slice(0, 12)
  const assets = { version, script, preload, lazy, style }
  write(join(outDir, CONSOLE_ASSETS), `${JSON.stringify(assets)}\n`)
  removeOthers(outDir, files)
}

/**
 * The script of the page, and what it imports before it runs: a browser that is told of those at once
 * need not find them one after the other.
 * @param {import('esbuild').Metafile['outputs']} outputs
 */
function firstLoaded(outputs) {
  const entry = Object.keys(outputs).find(
    (path) => outputs[path].entryPoint === `${CONSOLE_DIR}/main.tsx`,
  )
  const reached = new Set([entry])
  for (const path of reached) {
    for (const { path: imported, kind } of outputs[path].imports) {
      if (kind === 'import-statement') reached.add(imported)
    }
  }
  const [script, ...preload] = [...reached].map((path) => basename(path))
  return { script, preload: preload.sort() }
}

/** @param {Uint8Array} contents */
function brotli(contents) {
  return brotliCompressSync(contents, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
    },
  })
}

/** Removes the files of earlier builds. */
function removeOthers(outDir, files) {
  const kept = new Set([CONSOLE_ASSETS, ...files, ...files.map((name) => `${name}.br`)])
  for (const name of readdirSync(outDir)) {
    if (!kept.has(name)) rmSync(join(outDir, name), { recursive: true, force: true })
  }
}

/** The tokens are text of a module, since the identity provider's pages are made of them too. */
function tokensPlugin(esbuild) {
  return {
    name: 'tokens',
    setup(build) {
      build.onResolve({ filter: /^countersign:tokens$/ }, () => ({
        path: TOKENS_IMPORT,
        namespace: 'tokens',
      }))
      build.onLoad({ filter: /.*/, namespace: 'tokens' }, async () => {
        const { code } = await esbuild.transform(readFileSync(join(ROOT, TOKENS_SOURCE), 'utf8'), {
          loader: 'ts',
          format: 'esm',
        })
        const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
        const { PAGE_PALETTE } = await import(url)
        return { contents: PAGE_PALETTE, loader: 'css' }
      })
    },
  }
}
