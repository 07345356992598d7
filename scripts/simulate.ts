import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/**
 * Bundles the simulator and becomes it. It lives with the tests, which are not compiled: a night of
 * it is no test, and runs in one process at full speed.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const outfile = join(ROOT, 'node_modules/.cache/simulate.mjs')
await build({
  entryPoints: [join(ROOT, 'test/simulation/simulate.ts')],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: 'linked',
  logLevel: 'warning',
})
await import(pathToFileURL(outfile).href)
