import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system that a test can fill. */
export interface SmallDisk {
  /** The directory in which homes are made. */
  readonly directory: string
  /** The free space that the service must keep. */
  readonly floorMib: number
  /** True for a separate file system, which can be filled to the last byte. */
  readonly isOwn: boolean
  /** Fills the disk until only `leftMib` are free. */
  fillTo(leftMib: number): void
  empty(): void
  remove(): void
}

const MIB = 1024 * 1024
const OWN_SIZE_MIB = 320
const OWN_FLOOR_MIB = 64
/** Other processes use the machine's disk too, so this much is taken at once to cross the floor. */
const SHARED_MARGIN_MIB = 1_024

/**
 * In memory where this user may mount; otherwise the disk of temporary files, with a floor just
 * below its free space.
 */
export function smallDisk(): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), 'cs-disk-'))
  const isOwn = mountedAt(directory)
  const filler = join(directory, 'filler')
  const freeMib = () => {
    const { bavail, bsize } = statfsSync(directory)
    return Math.floor((bavail * bsize) / MIB)
  }
  const floorMib = isOwn ? OWN_FLOOR_MIB : Math.max(1, freeMib() - SHARED_MARGIN_MIB)
  return {
    directory,
    floorMib,
    isOwn,
    fillTo(leftMib) {
      const takenMib = isOwn ? freeMib() - leftMib : 2 * SHARED_MARGIN_MIB
      const piece = Buffer.alloc(MIB, 1)
      for (let i = 0; i < takenMib; i++) writeFileSync(filler, piece, { flag: 'a' })
      if (leftMib === 0 && isOwn) fillRest(filler)
    },
    empty() {
      rmSync(filler, { force: true })
    },
    remove() {
      if (isOwn) execFileSync('umount', ['--lazy', directory])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function mountedAt(directory: string): boolean {
  try {
    // Other users may pass through the directory, since a home in it may hold files of another
    // user.
    const options = `size=${OWN_SIZE_MIB}m,mode=0711`
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Writes page by page until the system reports that the disk is full. */
function fillRest(filler: string): void {
  const page = Buffer.alloc(4_096, 1)
  for (;;) {
    try {
      writeFileSync(filler, page, { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
      throw error
    }
  }
}
