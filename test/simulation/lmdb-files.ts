import type { RootDatabase } from 'lmdb'
import { Packr } from 'msgpackr'
import { Disk } from './disk.js'
import { type NamedRow, placeFor, putRow, removeRow, rowNamed } from './named-rows.js'
import type { Draw } from './random.js'
import type { Life, Scheduler } from './scheduler.js'

type Key = number | Uint8Array | readonly number[]

interface Row extends NamedRow {
  readonly key: Key
  /** As they are on disk. */
  readonly bytes: Uint8Array | number
}

interface Range {
  readonly start?: Key
  readonly end?: Key
  readonly reverse?: boolean
  readonly limit?: number
}

/** What one transaction is to do, in its order. */
type Work = (() => void)[]

/**
 * An LMDB file on a disk that outlives processes, as far as the user side uses one: transactions reach
 * it one after another, each whole or not at all, and reads see those that have.
 */
export class LmdbFile {
  readonly disk: Disk
  /** Told of each row of a database whose values are bytes, once the disk has it. */
  kept: (database: string, bytes: Uint8Array) => void = () => undefined
  readonly #databases = new Map<string, Row[]>()

  constructor(scheduler: Scheduler, draw: Draw) {
    this.disk = new Disk(scheduler, draw)
  }

  /** As one start of a process has it. */
  openedBy(life: Life): RootDatabase {
    const { disk } = this
    /** Of the transaction that is being put together. */
    let gathered: Work | null = null

    /** @returns whether it was done, once the disk has it */
    async function commit(work: Work, isSo = () => true): Promise<boolean> {
      let isDone = false
      await disk.commit(life, () => {
        isDone = isSo()
        if (isDone) for (const step of work) step()
      })
      return isDone
    }
    function gather(write: () => void): Work {
      const work: Work = []
      gathered = work
      write()
      gathered = null
      return work
    }
    function put(step: () => void): Promise<boolean> {
      if (gathered === null) return commit([step])
      gathered.push(step)
      return Promise.resolve(true)
    }
    const root = {
      batch: (write: () => void) => commit(gather(write)),
      openDB: ({ name, encoding }: { name: string; encoding?: string }) => {
        const isBinary = encoding === 'binary'
        const rows = this.#rowsOf(name)
        const read = ({ bytes }: Row): unknown =>
          isBinary || typeof bytes === 'number' ? bytes : PACKR.unpack(bytes)
        return {
          get: (key: Key) => {
            const row = rowNamed(rows, nameOf(key))
            return row === undefined ? undefined : read(row)
          },
          put: (key: Key, value: unknown) => {
            const isNumber = typeof value === 'number'
            const bytes = isNumber ? value : isBinary ? copy(value) : copy(PACKR.pack(value))
            const own = typeof key === 'object' && key instanceof Uint8Array ? copy(key) : key
            return put(() => {
              putRow(rows, { name: nameOf(key), key: own, bytes })
              if (isBinary && typeof bytes !== 'number') this.kept(name, bytes)
            })
          },
          remove: (key: Key) => put(() => removeRow(rows, nameOf(key))),
          ifVersion: (key: Key, _: unknown, write: () => void) =>
            commit(gather(write), () => rowNamed(rows, nameOf(key)) !== undefined),
          getRange: (range: Range = {}) =>
            within(rows, range).map((row) => ({ key: row.key, value: read(row) })),
          getKeys: (range: Range = {}) => within(rows, range).map(({ key }) => key),
        }
      },
      close: async () => undefined,
    }
    return root as unknown as RootDatabase
  }

  #rowsOf(name: string): Row[] {
    const rows = this.#databases.get(name) ?? []
    this.#databases.set(name, rows)
    return rows
  }
}

const PACKR = new Packr({ useRecords: false })

function copy(bytes: unknown): Buffer {
  return Buffer.from(bytes as Uint8Array)
}

/** From start to end, which is above it, or below when reversed; no range asked for ends at a row. */
function within(rows: readonly Row[], { start, end, reverse = false, limit }: Range): Row[] {
  const [low, high] = reverse ? [end, start] : [start, end]
  const from = low === undefined ? 0 : placeFor(rows, nameOf(low))
  const to = high === undefined ? rows.length : placeFor(rows, nameOf(high))
  const found = rows.slice(from, to)
  if (reverse) found.reverse()
  return found.slice(0, limit)
}

/** Digits of the largest safe integer and one more. */
const NUMBER_CHARS = 16

/** A text that sorts as lmdb sorts the key; -1 is before all that is there. */
function nameOf(key: Key): string {
  if (key instanceof Uint8Array) return Buffer.from(key).toString('latin1')
  if (typeof key !== 'number') return (key as readonly number[]).map(nameOf).join(' ')
  return String(key + 1).padStart(NUMBER_CHARS, '0')
}
