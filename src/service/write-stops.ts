import { noteNewestBlocks } from '../chains/newest-blocks.js'
import { attachChainTime, createChainTimeBuffer, keepChainTime } from '../clock/chain-time.js'
import { createServiceClock, type ServiceClock } from '../clock/service-clock.js'
import type { FreeSpace } from '../disk/free-space.js'
import type { ListOwner } from '../screening/lists/list-owner.js'

/** The conditions that may stop the writes of one node and of no other. */
interface NodeWrites {
  readonly disk: Pick<FreeSpace, 'low'>
  readonly clock: Pick<ServiceClock, 'aheadMs' | 'refusal'>
  readonly lists: Pick<ListOwner, 'status'>
}

/**
 * Tells why only this node would refuse writes. A chain whose blocks were not seen yet stops
 * writes too but is not counted: a chain that does not answer one node would usually not answer
 * another either.
 * @returns null if this node refuses no writes for a reason of its own
 */
export function ownWritesStop({ disk, clock, lists }: NodeWrites): string | null {
  if (disk.low) return LITTLE_SPACE
  if (clock.aheadMs() !== null && clock.refusal() !== null) return CLOCK_APART
  const { reason } = lists.status()
  return reason === null ? null : `screening: ${reason}`
}

/**
 * Tells whether a standby would refuse writes once it leads. A leader's refusals are visible, a
 * standby's only after it has taken over.
 */
export interface WriteStops {
  /** Answers from what is known now, so that no failover waits. @returns null if it refuses none */
  why(): string | null
  close(): void
}

interface WriteStopsOptions {
  readonly chains: Parameters<typeof noteNewestBlocks>[0]
  readonly disk: Pick<FreeSpace, 'low'>
  readonly lists: Pick<ListOwner, 'status'>
  /** The machine's clock, in milliseconds since the epoch. */
  readonly machineMs?: () => number
}

/**
 * A clock step is noticed at once; blocks may be noticed this late, of the two minutes that are
 * tolerated.
 */
const BLOCKS_EVERY_MS = 10_000

// The texts contain no figures, because those change all the time and each reason is logged once.
const LITTLE_SPACE = 'its disk has less free space than COUNTERSIGN_DISK_FREE_MIN_MIB'
const CLOCK_APART = 'its clock differs from the newest blocks'

export function watchWriteStops(options: WriteStopsOptions): WriteStops {
  const { chains, disk, lists, machineMs = Date.now } = options
  const buffer = createChainTimeBuffer()
  const note = keepChainTime(buffer)
  const clock = createServiceClock({ chainTime: attachChainTime(buffer), machineMs })
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  async function poll(): Promise<void> {
    await noteNewestBlocks(chains, note)
    if (isClosed) return
    timer = setTimeout(() => void poll(), BLOCKS_EVERY_MS)
    timer.unref()
  }
  void poll()

  return {
    why: () => ownWritesStop({ disk, clock, lists }),
    close() {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
    },
  }
}
