import { noteNewestBlocks } from '../chains/newest-blocks.js'
import { attachChainTime, createChainTimeBuffer, keepChainTime } from '../clock/chain-time.js'
import { createServiceClock } from '../clock/service-clock.js'
import type { FreeSpace } from '../disk/free-space.js'
import type { ListOwner } from '../screening/lists/list-owner.js'

/**
 * Whether a node that waits for the journal would refuse writes once it owns it: what the owner shows of itself
 * nobody sees of one that waits, until it has taken over.
 */
export interface WriteStops {
  /** By what is known now, so that no takeover waits for it. @returns null: it would not */
  why(): string | null
  close(): void
}

export interface WriteStopsOptions {
  readonly chains: Parameters<typeof noteNewestBlocks>[0]
  readonly disk: Pick<FreeSpace, 'low'>
  readonly lists: Pick<ListOwner, 'status'>
  /** Of this machine, milliseconds since the epoch. */
  readonly machineMs?: () => number
}

/** A step of the clock is seen at once; this is how late a block may be seen, of the two minutes that are borne with. */
const BLOCKS_EVERY_MS = 10_000

// Without figures, which change all the time: each reason is logged once.
const LITTLE_SPACE = 'less is free on its disk than COUNTERSIGN_DISK_FREE_MIN_MIB'
const CLOCK_APART = 'its clock is not what the newest blocks say'

/**
 * Chains of which no block was seen yet stop no writes here, though they do at an owner: the workers that
 * follow them wait as well, and one that does not answer would most often answer no other node either.
 */
export function watchWriteStops(options: WriteStopsOptions): WriteStops {
  const { chains, disk, lists, machineMs = Date.now } = options
  const buffer = createChainTimeBuffer()
  const note = keepChainTime(buffer)
  const clock = createServiceClock({ chainTime: attachChainTime(buffer), machineMs })
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  async function look(): Promise<void> {
    await noteNewestBlocks(chains, note)
    if (isClosed) return
    timer = setTimeout(() => void look(), BLOCKS_EVERY_MS)
    timer.unref()
  }
  void look()

  return {
    why() {
      if (disk.low) return LITTLE_SPACE
      if (clock.aheadMs() !== null && clock.refusal() !== null) return CLOCK_APART
      const { reason } = lists.status()
      return reason === null ? null : `screening: ${reason}`
    },
    close() {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
    },
  }
}
