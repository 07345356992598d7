/** Compiles stale sources into dist: `node scripts/build.mjs`, for tests and tools. */

import { compileStale } from './toolchain/compile.mjs'
import { announce, fail } from './toolchain/console.mjs'
import { withSetupLock } from './toolchain/lock.mjs'

try {
  const { compiled, removed } = await withSetupLock(compileStale)
  if (compiled + removed > 0) announce(`built ${compiled} files, removed ${removed}`)
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}
