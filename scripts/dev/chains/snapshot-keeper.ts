import { type StateFiles, writeSnapshot } from './chain-state.js'
import { rpc } from './json-rpc.js'

/** Saves a chain's state while it runs, so that even SIGKILL loses only about a second. */
export interface SnapshotKeeper {
  /**
   * Called with each block that a tick mined. Every transaction is mined at once in its own block,
   * so a gap in these numbers means that the chain changed.
   */
  onTick(blockNumber: number): void
  /**
   * Saves now, whatever the schedule.
   * @throws when the node does not answer
   */
  save(): Promise<void>
}

const INTERVAL_MS_MIN = 1_000
/**
 * A dump stops the node while it runs, and grows with the chain's history: a pause of twenty times
 * its duration keeps it below 5 % of the node's time.
 */
const DUTY_FACTOR = 20
/** How often changes that no block shows (such as `anvil_setBalance`) are saved. */
const QUIET_INTERVAL_MS = 120_000

export function keepSnapshots(rpcUrl: string, files: StateFiles): SnapshotKeeper {
  let expectedBlock = -1
  let savedMs = Date.now()
  let nextSaveMs = 0
  let changed = false
  let saving: Promise<void> | null = null

  async function dump(): Promise<void> {
    const startedMs = Date.now()
    changed = false
    try {
      const hex = await rpc(rpcUrl, 'anvil_dumpState')
      if (typeof hex !== 'string') throw new Error(`${rpcUrl}: anvil_dumpState answered no state`)
      await writeSnapshot(files, Buffer.from(hex.slice(2), 'hex'))
    } catch (error) {
      changed = true
      throw error
    }
    savedMs = Date.now()
    nextSaveMs = savedMs + Math.max(INTERVAL_MS_MIN, (savedMs - startedMs) * DUTY_FACTOR)
  }

  /** Runs one dump at a time, because all write the same temporary file. */
  async function save(): Promise<void> {
    while (saving !== null) await saving.catch(() => undefined)
    saving = dump()
    try {
      await saving
    } finally {
      saving = null
    }
  }

  return {
    save,
    onTick(blockNumber) {
      changed ||= blockNumber !== expectedBlock
      expectedBlock = blockNumber + 1
      const due = changed ? nextSaveMs : savedMs + QUIET_INTERVAL_MS
      // A failed save is repeated at the next tick.
      if (saving === null && Date.now() >= due) save().catch(() => undefined)
    },
  }
}
