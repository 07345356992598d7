import { statfs } from 'node:fs/promises'
import { type Fault, fault } from '../errors/fault.js'

/**
 * Watches whether the file system of a domain's data has free space. Below a floor no new write
 * begins, so that writes under way are stored to their end and no write meets a full disk midway.
 * It polls on an interval, never per call, and recovers by itself.
 */
export interface FreeSpace {
  /** Null before the first poll, and if it cannot be read. */
  readonly freeBytes: number | null
  readonly floorBytes: number
  readonly low: boolean
  /** Why no write may begin, or null. */
  refusal(): Fault | null
  close(): void
}

interface FreeSpaceOptions {
  /** Any file or directory of the file system. */
  readonly path: string
  readonly floorBytes: number
  readonly log: {
    error(facts: object, message: string): void
    info(facts: object, message: string): void
  }
}

/** Even at 100 MB/s, a disk loses less than the floor between two polls. */
const POLL_MS = 1_000

const BYTES_PER_MIB = 1024 * 1024

/** Polls once before it resolves. */
export async function watchFreeSpace(options: FreeSpaceOptions): Promise<FreeSpace> {
  const { path, floorBytes, log } = options
  let freeBytes: number | null = null
  let low = false

  async function poll(): Promise<void> {
    freeBytes = await statfs(path).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => null,
    )
    // Free space that cannot be read counts as low.
    const isLow = freeBytes === null || freeBytes < floorBytes
    if (isLow === low) return
    low = isLow
    const facts = { freeBytes, floorBytes }
    if (low) log.error(facts, 'the disk has too little free space, so writes are stopped')
    else log.info(facts, 'the disk has free space again, so writes continue')
  }

  await poll()
  let timer: NodeJS.Timeout | null = null
  let closed = false
  function next(): void {
    timer = setTimeout(() => void poll().finally(() => closed || next()), POLL_MS)
    timer.unref()
  }
  next()

  return {
    get freeBytes() {
      return freeBytes
    },
    floorBytes,
    get low() {
      return low
    },
    refusal: () =>
      low
        ? fault('WRITES_STOPPED', { reason: 'disk' }, spaceSentence(freeBytes, floorBytes))
        : null,
    close() {
      closed = true
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** The message of a refusal. */
function spaceSentence(freeBytes: number | null, floorBytes: number): string {
  const floor = `${Math.ceil(floorBytes / BYTES_PER_MIB)} MiB`
  return freeBytes === null
    ? 'The free space of the disk cannot be read, so writes are stopped; reads continue.'
    : `The disk has ${Math.floor(freeBytes / BYTES_PER_MIB)} MiB left, less than the ${floor} that are kept free, so writes are stopped; reads continue.`
}
