import type { Space, StoreKey, StoreRange } from '../../src/store/checked-space.js'
import { DAMAGED, opened, placeOf, seal, type Unsealed } from '../../src/store/encodings/sealing.js'
import type { Environment } from '../../src/store/environment.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'
import { attachVersions, createVersionsBuffer } from '../../src/store/versions.js'
import { WrittenBodies } from '../../src/store/written-bodies.js'
import type { Planted } from './planted.js'
import type { Draw } from './random.js'
import type { Life, Scheduler } from './scheduler.js'

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
  /** Told of each stage of each commit. @param nth counts those that were asked for */
  followed: (nth: number, stage: CommitStage) => void = () => undefined
  #asked = 0
  readonly #spaces = Object.fromEntries(
    (Object.keys(KEY_SPACES) as KeySpace[]).map((space) => [space, spaceInMemory(space)]),
  ) as Record<KeySpace, Space>
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #held: HeldCommit[] = []
  #busyUntilMs = 0

  constructor(scheduler: Scheduler, draw: Draw) {
    this.#scheduler = scheduler
    this.#draw = draw
  }

  /** As one start of a process has it. */
  environmentOf(life: Life, planted: Planted | null = null): Environment {
    const root = {
      batch: (write: () => void) => this.commit(life, write, planted?.promisesEarly === true),
      resetReadTxn: () => undefined,
    }
    return {
      root: root as unknown as Environment['root'],
      spaces: planted?.keeps === undefined ? this.#spaces : lossy(this.#spaces, planted.keeps),
      recordVersions: attachVersions(RECORD_VERSIONS),
      writtenBodies: new WrittenBodies(),
      noteDamage: () => undefined,
    }
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
      commit.reject(new Error('ENOSPC'))
      return
    }
    const isRefused = this.#draw.chance(this.faults.refusals)
    if (!isRefused || this.#draw.chance(0.5)) this.#put(commit.write)
    if (isRefused) {
      commit.reject(new Error('EIO'))
      return
    }
    this.followed(commit.nth, 'written')
    // It is on disk a moment before its process hears of it.
    this.#scheduler.after(this.#draw.integer(2), () => {
      if (life.isAlive) commit.resolve()
    })
  }

  #put(write: () => void): void {
    this.commits++
    write()
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

interface Row {
  readonly name: string
  readonly key: StoreKey
  readonly bytes: Uint8Array
}

/** Sealed bytes in the order of their keys, read as they are from LMDB. */
function spaceInMemory(space: KeySpace): Space {
  const rows: Row[] = []
  const number = Number.parseInt(KEY_SPACES[space], 10)

  function read({ key, bytes }: Row): unknown {
    const value = opened(bytes, bytes.length, placeOf(number, key))
    if (value === DAMAGED) throw new Error(`${JSON.stringify(key)} of ${space} is damaged`)
    return value
  }

  /** Where the first row is whose name is not before `name`. */
  function placeFor(name: string): number {
    let low = 0
    let high = rows.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((rows[middle] as Row).name < name) low = middle + 1
      else high = middle
    }
    return low
  }

  function rowAt(key: StoreKey): Row | undefined {
    const name = nameOf(key)
    const row = rows[placeFor(name)]
    return row?.name === name ? row : undefined
  }

  /** As lmdb has it: from start (with it) to end (without it), backwards when reversed. */
  function within({ start, end, exclusiveStart, reverse, limit }: StoreRange): Row[] {
    const [low, high] = reverse === true ? [end, start] : [start, end]
    const isIn = ({ name }: Row) => {
      if (reverse !== true) return !(exclusiveStart === true && name === nameOf(start ?? ''))
      if (end !== undefined && name === nameOf(end)) return false
      return !(exclusiveStart === true && start !== undefined && name === nameOf(start))
    }
    const from = low === undefined ? 0 : placeFor(nameOf(low))
    let to = high === undefined ? rows.length : placeFor(nameOf(high))
    // Backwards the start is above, and belongs to it.
    if (reverse === true && high !== undefined && rows[to]?.name === nameOf(high)) to++
    const found = rows.slice(from, to).filter(isIn)
    if (reverse === true) found.reverse()
    return found.slice(0, limit)
  }

  const entries = (range: StoreRange) =>
    within(range).map((row) => ({ key: row.key, value: read(row) }))

  function put(key: StoreKey, record: Unsealed): void {
    const name = nameOf(key)
    const at = placeFor(name)
    const bytes = Uint8Array.from(seal(record, placeOf(number, key)))
    rows.splice(at, rows[at]?.name === name ? 1 : 0, { name, key, bytes })
  }

  function remove(key: StoreKey): void {
    const name = nameOf(key)
    const at = placeFor(name)
    if (rows[at]?.name === name) rows.splice(at, 1)
  }

  return {
    get(key) {
      const row = rowAt(key)
      return row === undefined ? undefined : read(row)
    },
    getRange: entries,
    getSound: entries,
    getKeys: (range) => within(range).map(({ key }) => key),
    getKeysCount: (range) => within(range).length,
    isSealed: () => true,
    lost: (key) => {
      throw new Error(`${JSON.stringify(key)} of ${space} is lost`)
    },
    async put(key, record) {
      put(key, record)
      return true
    },
    putSync: put,
    async remove(key) {
      remove(key)
      return true
    },
    removeSync: remove,
  }
}

/** Digits of the largest safe integer. */
const NUMBER_CHARS = 16

/** A text that sorts as lmdb sorts the key: part by part, a tuple before what continues it, numbers before texts. */
function nameOf(key: StoreKey): string {
  if (!Array.isArray(key)) return partOf(key)
  return key.map(partOf).join('\u0000')
}

function partOf(part: string | number): string {
  if (typeof part === 'string') return `t${part}`
  if (!Number.isSafeInteger(part) || part < 0) throw new Error(`${part} is no place in a key`)
  return `n${String(part).padStart(NUMBER_CHARS, '0')}`
}
