import { statfs } from 'node:fs/promises'
import { type Fault, fault } from '../errors/fault.js'

/**
 * Whether the file system that holds a domain's data has room. Below a floor nothing new is begun,
 * so that what is under way is stored to its end and no write meets a full disk midway. Looked at on
 * an interval, never per call; it heals by itself.
 */
export interface FreeSpace {
  /** Null until it was looked at, and while it cannot be. */
  readonly freeBytes: number | null
  readonly floorBytes: number
  readonly low: boolean
  /** Why nothing that writes may begin, or null. */
  refusal(): Fault | null
  close(): void
}

export interface FreeSpaceOptions {
  /** Any file or directory of the file system. */
  readonly path: string
  readonly floorBytes: number
  readonly log: {
    error(facts: object, message: string): void
    info(facts: object, message: string): void
  }
}

/** A disk that is written to at 100 MB/s loses less than the floor between two looks. */
const LOOK_EVERY_MS = 1_000

const BYTES_PER_MIB = 1024 * 1024

/** Looks once before it resolves. */
export async function watchFreeSpace(options: FreeSpaceOptions): Promise<FreeSpace> {
  const { path, floorBytes, log } = options
  let freeBytes: number | null = null
  let low = false

  async function look(): Promise<void> {
    freeBytes = await statfs(path).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => null,
    )
    // What cannot be looked at cannot be relied on.
    const isLow = freeBytes === null || freeBytes < floorBytes
    if (isLow === low) return
    low = isLow
    const facts = { freeBytes, floorBytes }
    if (low) log.error(facts, 'too little space is free: writes stop')
    else log.info(facts, 'space is free again: writes go on')
  }

  await look()
  let timer: NodeJS.Timeout | null = null
  let closed = false
  function next(): void {
    timer = setTimeout(() => void look().finally(() => closed || next()), LOOK_EVERY_MS)
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

/** In plain words. */
export function spaceSentence(freeBytes: number | null, floorBytes: number): string {
  const floor = `${Math.ceil(floorBytes / BYTES_PER_MIB)} MiB`
  return freeBytes === null
    ? 'The free space of the disk cannot be read, so writes are stopped; reads go on.'
    : `The disk has ${Math.floor(freeBytes / BYTES_PER_MIB)} MiB left, less than the ${floor} that are kept free, so writes are stopped; reads go on.`
}
