import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

/**
 * Bundles the simulator and becomes it. It lives with the tests, which are not compiled: a night of
 * it is no test, and runs in one thread for each core at full speed.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SMALL_CACHES = join(ROOT, 'test/simulation/small-caches.ts')
const CACHES = 'lru-cache'

/** As the suite replaces it. */
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
        import { smallCaches } from ${JSON.stringify(SMALL_CACHES)}
        export const { LRUCache } = smallCaches(whole)`,
      resolveDir: ROOT,
    }))
  },
}

const outfile = join(ROOT, 'node_modules/.cache/simulate.mjs')
await build({
  entryPoints: [join(ROOT, 'test/simulation/simulate.ts')],
  outfile,
  bundle: true,
  packages: 'external',
  plugins: [smallCaches],
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: 'linked',
  logLevel: 'warning',
})
await import(pathToFileURL(outfile).href)
