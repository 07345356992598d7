import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system that a test can fill. */
export interface SmallDisk {
  /** Homes are made in it. */
  readonly directory: string
  /** What the service is to keep free of it. */
  readonly floorMib: number
  /** True where it is one of its own, which can be filled to the last byte. */
  readonly isOwn: boolean
  /** Takes what is free but for so much. */
  fillTo(leftMib: number): void
  empty(): void
  remove(): void
}

const MIB = 1024 * 1024
const OWN_SIZE_MIB = 320
const OWN_FLOOR_MIB = 64
/** Of the machine's disk, which others use too, so much is taken at once to cross the floor. */
const SHARED_MARGIN_MIB = 1_024

/** In memory where this user may mount; else the disk of temporary files, with a floor right below. */
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
    // A home in it lets others pass to what is of another user.
    const options = `size=${OWN_SIZE_MIB}m,mode=0711`
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Page by page, until the system says that it is full. */
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
