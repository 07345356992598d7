import type { Space } from '../../src/store/checked-space.js'
import type { Environment } from '../../src/store/environment.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'
import { attachVersions, createVersionsBuffer } from '../../src/store/versions.js'
import { WrittenBodies } from '../../src/store/written-bodies.js'
import type { Planted } from './planted.js'
import type { Draw } from './random.js'
import { arrive, type Life, type Scheduler } from './scheduler.js'
import { type SpaceInMemory, spaceInMemory } from './space-in-memory.js'

/** What a disk does besides taking what it is given. */
export interface DiskFaults {
  readonly latencyMsMax: number
  /** Of a commit, that it is refused: nobody knows then whether it was written. */
  readonly refusals: number
}

/** Where a commit is. */
export type CommitStage = 'asked' | 'written'

interface HeldCommit {
  readonly nth: number
  readonly life: Life
  readonly write: () => void
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

const STALL_MS_MAX = 5_000

/** Only whether a version changed counts, so that all worlds share them: each is 256 KiB. */
const RECORD_VERSIONS = createVersionsBuffer()

/**
 * A disk that outlives processes. Commits reach it one after another, each whole or not at all, a
 * while after they were asked for; what has not reached it when its process is killed is gone, but
 * for some of it, in order, that was on its way.
 */
export class Disk {
  faults: DiskFaults = { latencyMsMax: 5, refusals: 0 }
  /** How many commits have reached it. */
  commits = 0
  /** Until then it has no room: what is asked of it is refused, and was not written. */
  fullUntilMs = 0
  /** Of commits, how many take seconds. */
  stalls = 0
  /** Told of each stage of each commit. @param nth counts those that were asked for */
  followed: (nth: number, stage: CommitStage) => void = () => undefined
  #asked = 0
  readonly #rows = (Object.keys(KEY_SPACES) as KeySpace[]).map((space) => spaceInMemory(space))
  readonly #spaces = named(this.#rows, ({ space }) => space)
  readonly #lookedAt = named(this.#rows, ({ lookedAt }) => lookedAt)
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #held: HeldCommit[] = []
  #busyUntilMs = 0

  constructor(scheduler: Scheduler, draw: Draw) {
    this.#scheduler = scheduler
    this.#draw = draw
  }

  /** It takes what it is given from now on. */
  calm(): void {
    this.faults = { latencyMsMax: 8, refusals: 0 }
    this.fullUntilMs = 0
    this.stalls = 0
  }

  /** As one start of a process has it. */
  environmentOf(life: Life, planted: Planted | null = null): Environment {
    const spaces = planted?.keeps === undefined ? this.#spaces : lossy(this.#spaces, planted.keeps)
    return environmentWith(spaces, (write) =>
      this.commit(life, write, planted?.promisesEarly === true),
    )
  }

  /** For those who only look, and look often: what did not change is not decoded anew. */
  get lookedAt(): Environment {
    return environmentWith(this.#lookedAt, () => Promise.reject(new Error('nobody writes here')))
  }

  /**
   * @param write once it is on disk, if ever
   * @param isEarly promised at once: a fault to be found
   */
  commit(life: Life, write: () => void, isEarly = false): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (!life.isAlive) return
      if (isEarly) resolve()
      const nth = ++this.#asked
      this.#held.push({ nth, life, write, resolve, reject })
      const least = Math.max(this.#scheduler.nowMs, this.#busyUntilMs)
      this.#busyUntilMs = least + this.#draw.integer(this.faults.latencyMsMax + 1)
      if (this.stalls > 0 && this.#draw.chance(this.stalls)) {
        this.#busyUntilMs += this.#draw.integer(STALL_MS_MAX)
      }
      this.#scheduler.at(this.#busyUntilMs, () => this.#flush(life))
      this.followed(nth, 'asked')
    })
  }

  /** Of another thread of the same start. */
  threadOf(environment: Environment): Environment {
    return { ...environment, writtenBodies: new WrittenBodies() }
  }

  /**
   * @param isPowerLoss what is under way does not arrive
   * @returns how many commits were lost
   */
  kill(life: Life, isPowerLoss = false): number {
    life.isAlive = false
    const through = isPowerLoss ? 0 : this.#draw.integer(this.#held.length + 1)
    for (const { write } of this.#held.splice(0, through)) this.#put(write)
    return this.#held.splice(0).length
  }

  #flush(life: Life): void {
    if (!life.isAlive) return
    const commit = this.#held.shift()
    if (commit === undefined) return
    if (this.#scheduler.nowMs < this.fullUntilMs) {
      arrive(this.#scheduler, life, () => commit.reject(new Error('ENOSPC')))
      return
    }
    const isRefused = this.#draw.chance(this.faults.refusals)
    if (!isRefused || this.#draw.chance(0.5)) this.#put(commit.write)
    if (isRefused) {
      arrive(this.#scheduler, life, () => commit.reject(new Error('EIO')))
      return
    }
    this.followed(commit.nth, 'written')
    // It is on disk a moment before its process hears of it.
    this.#scheduler.after(this.#draw.integer(2), () =>
      arrive(this.#scheduler, life, commit.resolve),
    )
  }

  #put(write: () => void): void {
    this.commits++
    write()
  }
}

function named(
  rows: readonly SpaceInMemory[],
  of: (rows: SpaceInMemory) => Space,
): Record<KeySpace, Space> {
  return Object.fromEntries(rows.map((one) => [one.name, of(one)])) as Record<KeySpace, Space>
}

function environmentWith(
  spaces: Record<KeySpace, Space>,
  batch: (write: () => void) => Promise<void>,
): Environment {
  const root = { batch, resetReadTxn: () => undefined }
  return {
    ...{ root: root as unknown as Environment['root'], spaces },
    recordVersions: attachVersions(RECORD_VERSIONS),
    writtenBodies: new WrittenBodies(),
    noteDamage: () => undefined,
  }
}

function lossy(
  spaces: Record<KeySpace, Space>,
  keeps: NonNullable<Planted['keeps']>,
): Record<KeySpace, Space> {
  const wrapped = Object.entries(spaces).map(([name, space]) => {
    let nth = 0
    const put: Space['put'] = (key, record) =>
      keeps(name as KeySpace, key, ++nth) ? space.put(key, record) : Promise.resolve(true)
    return [name, { ...space, put }]
  })
  return Object.fromEntries(wrapped) as Record<KeySpace, Space>
}
