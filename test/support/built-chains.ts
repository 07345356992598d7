import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Deploying the contracts of six chains takes a third of a first start. The first service of a test
 * run does it and leaves its chains in that state to the services after it; each of them copies the
 * chains into its own home. Every home has its own keys, wallets and stores. The tests of the
 * devnet start from nothing.
 */
export interface ChainsBuilder {
  /**
   * May be called any number of times while the service starts. Leaves the chains to others once
   * they are built.
   */
  readonly offer: () => void
  /**
   * Must be called when the service is ready or has failed: services that still wait then build
   * their own chains.
   */
  readonly end: () => void
}

const MARKER = '.countersign-home'
/** The files of a chain that a start reads: its last snapshot, and what was deployed on it. */
const KEPT = new Set(['deployer.json', 'state.json.gz', 'world.json'])
const POLL_MS = 50
/**
 * A service that has waited this long builds chains of its own: the builder may have been killed.
 */
const BUILT_TIMEOUT_MS = 60_000

/**
 * Copies built chains into an empty home, or waits for those that another test is building.
 * @param runDirectory the directory of this test run, common to all its workers
 * @returns what to call while this home builds the chains for all; null when another home builds
 * them
 */
export async function takeBuiltChains(
  runDirectory: string,
  home: string,
): Promise<ChainsBuilder | null> {
  const built = join(runDirectory, 'built')
  const building = join(runDirectory, 'building')
  const deadlineMs = Date.now() + BUILT_TIMEOUT_MS
  for (;;) {
    if (existsSync(built)) {
      cpSync(built, home, { recursive: true })
      return null
    }
    if (!wasThere(building)) break
    if (Date.now() > deadlineMs) return null
    await delay(POLL_MS)
  }
  return {
    offer() {
      // Written once the contracts of all chains are there and in their snapshots.
      if (existsSync(built) || !existsSync(join(home, 'chains.json'))) return
      const copy = join(building, 'copy')
      mkdirSync(copy)
      cpSync(join(home, MARKER), join(copy, MARKER))
      cpSync(join(home, 'chains'), join(copy, 'chains'), {
        recursive: true,
        filter: (path) => !basename(path).includes('.') || KEPT.has(basename(path)),
      })
      renameSync(copy, built)
    },
    end() {
      rmSync(building, { recursive: true, force: true })
    },
  }
}

/**
 * Makes a directory; of several processes that try, only one succeeds.
 * @returns whether another had made it before
 */
function wasThere(path: string): boolean {
  try {
    mkdirSync(path)
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true
    throw error
  }
}
