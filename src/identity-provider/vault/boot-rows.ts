import type { RootDatabase } from 'lmdb'
import { type Cell, ONE_CELL } from '../../domain/cells.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'
import {
  decodeOwner,
  encodeOwner,
  SERVICE_BOOT_BYTES,
  type ServiceStart,
} from '../../quorum-protocol/service-boot.js'
import { type UnflushedRows, unflushedRows } from './unflushed-rows.js'

/** Which starts of the wallet service announced themselves, and with which epochs of a journal. */
export interface BootRows {
  /** Number of the latest of all cells; 0 before the first. */
  readonly last: number
  numberOf(boot: Uint8Array): number | null
  /** By the number of the cell; null: none of it ever announced itself. */
  latestOf(cell: number): LatestStart | null
  /** Of each cell that has one. */
  latest(): Iterable<LatestStart>
  ownerEpoch(cell: number, journal: string): number
  put(number: number, start: ServiceStart): void
  /** Takes part in the caller's transaction. */
  readonly rows: Pick<UnflushedRows<number, Buffer | null>, 'put'>
}

/** The start that a cell's users are served by. */
export interface LatestStart {
  readonly number: number
  /** As it announced it. */
  readonly cell: Cell
}

/**
 * Starts of the service that are told apart, 32 bytes each in memory. One that so many others have
 * followed would be taken for a new one: no process lives that long. The latest of a cell stays, however
 * many of other cells have followed it.
 */
const BOOTS_MAX = 65_536

/** A service without a journal has every user. */
export function cellOf({ owner }: ServiceStart): Cell {
  return owner?.cell ?? ONE_CELL
}

/** @param root of the ledger: 07-boots */
export function openBootRows(root: RootDatabase): BootRows {
  const boots = root.openDB<Buffer, number>({ name: '07-boots', encoding: 'binary' })
  const numbers = new Map<string, number>()
  const latest = new Map<number, LatestStart>()
  const epochs = new Map<string, number>()
  let last = 0

  const rows = unflushedRows<number, Buffer | null>((number, start) => {
    if (start === null) void boots.remove(number)
    else void boots.put(number, start)
  })

  function note(number: number, start: ServiceStart): void {
    const { boot, owner } = start
    const cell = cellOf(start)
    last = Math.max(last, number)
    numbers.set(nameOf(boot), number)
    latest.set(cell.number, { number, cell })
    if (numbers.size > BOOTS_MAX) forgetOldest()
    if (owner === null) return
    const name = epochName(cell.number, owner.journal)
    epochs.set(name, Math.max(owner.epoch, epochs.get(name) ?? 0))
  }

  function forgetOldest(): void {
    const kept = new Set([...latest.values()].map(({ number }) => number))
    for (const [name, number] of numbers) {
      if (numbers.size <= BOOTS_MAX) break
      if (kept.has(number)) continue
      numbers.delete(name)
      rows.set(number, null)
    }
  }

  for (const { key, value } of boots.getRange()) note(key, decodeStart(value))

  return {
    get last() {
      return last
    },
    numberOf: (boot) => numbers.get(nameOf(boot)) ?? null,
    latestOf: (cell) => latest.get(cell) ?? null,
    latest: () => latest.values(),
    ownerEpoch: (cell, journal) => epochs.get(epochName(cell, journal)) ?? 0,
    put(number, start) {
      note(number, start)
      rows.set(number, encodeStart(start))
    },
    rows,
  }
}

function encodeStart({ boot, owner }: ServiceStart): Buffer {
  return owner === null ? Buffer.from(boot) : concat(boot, encodeOwner(owner))
}

function decodeStart(stored: Buffer): ServiceStart {
  const owner = stored.subarray(SERVICE_BOOT_BYTES)
  return {
    boot: stored.subarray(0, SERVICE_BOOT_BYTES),
    owner: owner.length === 0 ? null : decodeOwner(owner),
  }
}

function nameOf(boot: Uint8Array): string {
  return viewOf(boot).toString('latin1')
}

function epochName(cell: number, journal: string): string {
  return `${cell} ${journal}`
}
