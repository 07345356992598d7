import { setTimeout as delay } from 'node:timers/promises'
import { type StateFiles, writeSnapshot } from './chain-state.js'
import { rpc, rpcBatch } from './json-rpc.js'

/** Saves a chain's state while it runs, so that even SIGKILL costs about a second of it. */
export interface SnapshotKeeper {
  /** Saves now, whatever the schedule says. @throws when the node does not answer */
  save(): Promise<void>
  stop(): Promise<void>
}

const POLL_MS = 500
const INTERVAL_MS_MIN = 1_000
/**
 * A dump stops the node for as long as it takes, and grows with the chain's history: waiting
 * twenty times its length keeps it below 5 % of the node's time.
 */
const DUTY_FACTOR = 20
/** Changes no block shows (`anvil_setBalance` and the like) are saved this often. */
const QUIET_INTERVAL_MS = 30_000
/** More new blocks than this in one poll are activity, without asking each for its transactions. */
const BLOCKS_ASKED_MAX = 8

export function keepSnapshots(rpcUrl: string, files: StateFiles): SnapshotKeeper {
  const stopping = new AbortController()
  let seenBlock = -1
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

  /** One dump at a time: both write the same temporary file. */
  async function save(): Promise<void> {
    await saving?.catch(() => undefined)
    saving = dump()
    await saving
  }

  async function look(): Promise<void> {
    const head = Number(await rpc(rpcUrl, 'eth_blockNumber'))
    changed ||= await carriesTransactions(rpcUrl, seenBlock, head)
    seenBlock = head
    const nowMs = Date.now()
    const due = changed ? nextSaveMs : savedMs + QUIET_INTERVAL_MS
    if (nowMs >= due) await save()
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A node that is being restarted answers again later.
      await look().catch(() => undefined)
      await delay(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  const running = run()
  return {
    save,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** True when a block after `seen`, up to `head`, has a transaction; also when the chain went back. */
async function carriesTransactions(rpcUrl: string, seen: number, head: number): Promise<boolean> {
  if (head === seen) return false
  if (seen < 0 || head < seen || head - seen > BLOCKS_ASKED_MAX) return true
  const counts = await rpcBatch(
    rpcUrl,
    Array.from({ length: head - seen }, (_, i) => ({
      method: 'eth_getBlockTransactionCountByNumber',
      params: [`0x${(seen + 1 + i).toString(16)}`],
    })),
  )
  return counts.some((count) => Number(count) > 0)
}
