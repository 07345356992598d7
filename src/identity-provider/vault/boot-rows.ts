import type { Database, RootDatabase } from 'lmdb'
import { type Cell, ONE_CELL } from '../../domain/cells.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'
import {
  decodeOwner,
  encodeOwner,
  type JournalOwner,
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
  /** The highest; 0 before the first. @param counts of the key that a start was announced by */
  ownerEpoch(cell: number, journal: string, counts: KeyCounts): number
  put(number: number, start: ServiceStart): void
  /** Take part in the caller's transaction. */
  readonly rows: readonly Pick<UnflushedRows<number, Buffer | null>, 'put'>[]
}

/** Whether a co-signer key is one still; null: of a start that an earlier build noted. */
export type KeyCounts = (kid: Uint8Array | null) => boolean

/** The start that a cell's users are served by. */
export interface LatestStart {
  readonly number: number
  /** As it announced it. */
  readonly cell: Cell
  /** With which it took its journal last; null without one. */
  readonly owner: JournalOwner | null
  /** Of the co-signer key that it was announced by; null where an earlier build noted it. */
  readonly kid: Uint8Array | null
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

/** @param root of the ledger: 07-boots, and 20-boot-keys with the id of the key of each */
export function openBootRows(root: RootDatabase): BootRows {
  const boots = root.openDB<Buffer, number>({ name: '07-boots', encoding: 'binary' })
  // Apart, so that an earlier build reads what it knows.
  const bootKeys = root.openDB<Buffer, number>({ name: '20-boot-keys', encoding: 'binary' })
  const numbers = new Map<string, number>()
  const latest = new Map<number, LatestStart>()
  /** By journal, the highest of each key. */
  const epochs = new Map<string, Map<string, OwnerEpoch>>()
  let last = 0

  const rows = rowsOf(boots)
  const keyRows = rowsOf(bootKeys)

  function note(number: number, start: ServiceStart): void {
    const { boot, owner, kid = null } = start
    const cell = cellOf(start)
    last = Math.max(last, number)
    numbers.set(nameOf(boot), number)
    latest.set(cell.number, { number, cell, owner, kid })
    if (numbers.size > BOOTS_MAX) forgetOldest()
    if (owner === null) return
    const name = epochName(cell.number, owner.journal)
    const ofJournal = epochs.get(name) ?? new Map<string, OwnerEpoch>()
    epochs.set(name, ofJournal)
    const key = kid === null ? '' : nameOf(kid)
    const epoch = Math.max(owner.epoch, ofJournal.get(key)?.epoch ?? 0)
    ofJournal.set(key, { epoch, kid })
  }

  function forgetOldest(): void {
    const kept = new Set([...latest.values()].map(({ number }) => number))
    for (const [name, number] of numbers) {
      if (numbers.size <= BOOTS_MAX) break
      if (kept.has(number)) continue
      numbers.delete(name)
      rows.set(number, null)
      keyRows.set(number, null)
    }
  }

  for (const { key, value } of boots.getRange()) {
    const kid = bootKeys.get(key)
    note(key, kid === undefined ? decodeStart(value) : { ...decodeStart(value), kid })
  }

  return {
    get last() {
      return last
    },
    numberOf: (boot) => numbers.get(nameOf(boot)) ?? null,
    latestOf: (cell) => latest.get(cell) ?? null,
    latest: () => latest.values(),
    ownerEpoch(cell, journal, counts) {
      const ofJournal = epochs.get(epochName(cell, journal))?.values() ?? []
      return [...ofJournal].reduce(
        (highest, { epoch, kid }) => (counts(kid) ? Math.max(highest, epoch) : highest),
        0,
      )
    },
    put(number, start) {
      note(number, start)
      rows.set(number, encodeStart(start))
      if (start.kid !== undefined) keyRows.set(number, Buffer.from(start.kid))
    },
    rows: [rows, keyRows],
  }
}

interface OwnerEpoch {
  readonly epoch: number
  readonly kid: Uint8Array | null
}

function rowsOf(database: Database<Buffer, number>): UnflushedRows<number, Buffer | null> {
  return unflushedRows((number, row) => {
    if (row === null) void database.remove(number)
    else void database.put(number, row)
  })
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
