import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * To deploy the contracts of six chains takes a third of a first start. The first service of a test
 * run does it, and leaves its chains as they are then to the services after it, each with a copy in
 * a home of its own. Keys, wallets and stores are every home's own; the devnet's tests start from
 * nothing.
 */
export interface ChainsBuilder {
  /** Called while the service starts, as often as one likes. Leaves the chains to others once they are built. */
  readonly offer: () => void
  /** Called when it is ready, or never will be: who waits builds then on its own. */
  readonly end: () => void
}

const MARKER = '.countersign-home'
/** What a start reads of a chain: its last snapshot, and what was deployed on it. */
const KEPT = new Set(['deployer.json', 'state.json.gz', 'world.json'])
const POLL_MS = 50
/** Who has waited for so long builds chains of its own: the builder may have been killed. */
const BUILT_TIMEOUT_MS = 60_000

/**
 * Copies built chains into an empty home, or waits for those that another test builds right now.
 * @param runDirectory of this test run, common to all its workers
 * @returns what to call while this home's chains are built for all; null when that is not its part
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

/** Makes a directory, as the one of all who try. @returns whether another has made it before */
function wasThere(path: string): boolean {
  try {
    mkdirSync(path)
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true
    throw error
  }
}
