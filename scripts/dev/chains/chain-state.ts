import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'

/**
 * The state of one chain on disk. There are two writers, neither of which is sufficient: the
 * supervisor's snapshots, written atomically about every second while the chain changes, and
 * anvil's own dump, written when anvil stops (also when everything stops at once) but incomplete
 * when it is killed during the write. A start uses the higher of those that parse.
 */
export interface StateFiles {
  /** gzip of the state, as `anvil_dumpState` returns it. */
  readonly snapshot: string
  /** anvil's `--dump-state`: plain JSON. */
  readonly exitDump: string
  /** The file that anvil loads. */
  readonly load: string
}

/**
 * How far back from the head blocks without transactions are kept. One is mined every second: kept
 * forever, they would exceed everything else within hours.
 */
const EMPTY_BLOCKS_KEPT = 1_024

const blockShape = z.looseObject({
  header: z.looseObject({ number: z.string() }),
  transactions: z.array(z.unknown()),
})
const stateShape = z.looseObject({ best_block_number: z.int(), blocks: z.array(blockShape) })
type ChainState = z.infer<typeof stateShape>

export function stateFiles(dir: string): StateFiles {
  return {
    snapshot: join(dir, 'state.json.gz'),
    exitDump: join(dir, 'exit.json'),
    load: join(dir, 'load.json'),
  }
}

/**
 * Writes the newest state to `files.load`.
 * @returns false without any state: the chain starts empty
 */
export function prepareLoad(files: StateFiles): boolean {
  const states = [
    readState(() => gunzipSync(readFileSync(files.snapshot))),
    readState(() => readFileSync(files.exitDump)),
  ].filter((state) => state !== null)
  const newest = states.sort((a, b) => b.best_block_number - a.best_block_number)[0]
  if (newest === undefined) return false
  const temporary = `${files.load}.tmp`
  writeFileSync(temporary, JSON.stringify(withoutOldEmptyBlocks(newest)))
  renameSync(temporary, files.load)
  return true
}

/** Replaces the last snapshot. Resolves once the new one is durable. */
export async function writeSnapshot(files: StateFiles, gzip: Uint8Array): Promise<void> {
  const temporary = `${files.snapshot}.tmp`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(gzip)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, files.snapshot)
}

function readState(read: () => Buffer): ChainState | null {
  try {
    return stateShape.parse(JSON.parse(read().toString('utf8')))
  } catch {
    // If this file is missing, incomplete, or in another format, the other writer's is used.
    return null
  }
}

/** anvil needs the best block itself; it answers null for the ones left out. */
function withoutOldEmptyBlocks(state: ChainState): ChainState {
  const oldest = state.best_block_number - EMPTY_BLOCKS_KEPT
  const blocks = state.blocks.filter(({ header, transactions }) => {
    const number = Number(header.number)
    return number === 0 || number >= oldest || transactions.length > 0
  })
  return { ...state, blocks }
}
