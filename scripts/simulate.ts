import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build, type Plugin } from 'esbuild'

/**
 * Bundles the simulator and runs it. It is among the tests, which are not compiled: a night of
 * simulation is not a test, and uses one thread per core at full speed.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SIMULATION = join(ROOT, 'test/simulation')
const CACHES = 'lru-cache'

/** The same replacement as in the test suite. */
const smallCaches: Plugin = {
  name: 'small caches',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${CACHES}$`) }, ({ namespace }) =>
      namespace === 'small'
        ? { path: CACHES, external: true }
        : { path: CACHES, namespace: 'small' },
    )
    onLoad({ filter: /./, namespace: 'small' }, () => ({
      contents: `import * as whole from '${CACHES}'
        import { smallCaches } from ${JSON.stringify(join(SIMULATION, 'small-caches.ts'))}
        export const { LRUCache } = smallCaches(whole)`,
      resolveDir: ROOT,
    }))
  },
}

/** The modules that reach curves, and their replacements in the test suite. */
const CURVES = new Map([
  ['curve.ts', { file: 'secp256k1.ts', standIn: 'standInCurve' }],
  ['p256.ts', { file: 'p256.ts', standIn: 'standInP256' }],
  ['x25519.ts', { file: 'x25519.ts', standIn: 'standInX25519' }],
])
const FUNCTION = /^export (?:async )?function (\w+)/gm

const standInCurves: Plugin = {
  name: 'stand-ins for curves',
  setup({ onResolve, onLoad }) {
    const names = [...CURVES.keys()].map((name) => name.replace('.', '\\.')).join('|')
    onResolve({ filter: /^real:/ }, ({ path }) => ({
      path: path.slice('real:'.length),
      namespace: 'real',
    }))
    onLoad({ filter: /./, namespace: 'real' }, async ({ path }) => ({
      contents: await readFile(path, 'utf8'),
      loader: 'ts',
      resolveDir: dirname(path),
    }))
    onLoad({ filter: new RegExp(`/src/quorum-protocol/(${names})$`) }, async ({ path }) => {
      const { file, standIn } = CURVES.get(basename(path)) ?? { file: '', standIn: '' }
      const functions = [...(await readFile(path, 'utf8')).matchAll(FUNCTION)].map(([, it]) => it)
      return {
        contents: `import * as real from ${JSON.stringify(`real:${path}`)}
          import { ${standIn} } from ${JSON.stringify(join(SIMULATION, 'curves', file))}
          export const { ${functions.join(', ')} } = ${standIn}(real)`,
        resolveDir: dirname(path),
      }
    })
  },
}

/** The form in `mendings.ts`. */
interface Mended {
  readonly file: string
  readonly mending: string
  readonly before?: string
}

/** A change that fixed a fault. */
interface Mending extends Mended {
  readonly fault: string
  readonly also?: Mended
}

/** The service without those fixes. */
function withoutThem(mended: readonly Mended[]): Plugin {
  return {
    name: 'mendings are taken out',
    setup({ onLoad }) {
      for (const file of new Set(mended.map((one) => one.file))) {
        onLoad({ filter: new RegExp(`${file.replaceAll('.', '\\.')}$`) }, async ({ path }) => {
          let contents = await readFile(path, 'utf8')
          for (const { mending, before = '' } of mended.filter((one) => one.file === file)) {
            if (!contents.includes(mending)) throw new Error(`${file} no longer has that mending`)
            contents = contents.replace(mending, () => before)
          }
          return { contents, loader: 'ts' }
        })
      }
    },
  }
}

async function mendingOf(fault: string): Promise<Mending> {
  const entryPoints = [join(SIMULATION, 'mendings.ts')]
  const { outputFiles } = await build({ entryPoints, write: false, format: 'esm' })
  const code = outputFiles[0]?.text ?? ''
  const { MENDINGS } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly MENDINGS: readonly Mending[]
  }
  const found = MENDINGS.find((one) => one.fault === fault)
  if (found !== undefined) return found
  throw new Error(`no such mending; there are: ${MENDINGS.map((one) => one.fault).join('; ')}`)
}

const { values } = parseArgs({ options: { without: { type: 'string' } }, strict: false })
const without = typeof values.without === 'string' ? await mendingOf(values.without) : null
const mended = [without, without?.also].filter((one) => one !== null && one !== undefined)
const name = without === null ? 'simulate' : 'simulate-without'
const outfile = join(ROOT, `node_modules/.cache/${name}.mjs`)
await build({
  entryPoints: [join(SIMULATION, 'simulate.ts')],
  outfile,
  bundle: true,
  packages: 'external',
  plugins: [smallCaches, standInCurves, withoutThem(mended)],
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: 'linked',
  logLevel: 'warning',
})
await import(pathToFileURL(outfile).href)
