import type { Database, RootDatabase } from 'lmdb'
import { type Cell, ONE_CELL } from '../../domain/cells.js'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'
import {
  decodeLeadership,
  encodeLeadership,
  type JournalLeadership,
  SERVICE_BOOT_BYTES,
  type ServiceStart,
} from '../../quorum-protocol/service-boot.js'
import { type UnflushedRows, unflushedRows } from './unflushed-rows.js'

/** The starts of the wallet service that announced themselves, with their epochs of a journal. */
interface BootRows {
  /** The number of the latest start of all cells; 0 before the first. */
  readonly last: number
  numberOf(boot: Uint8Array): number | null
  /** Returns the latest start of a cell, by the cell's number; null before its first. */
  latestOf(cell: number): LatestStart | null
  /** Returns the latest start of each cell. */
  latest(): Iterable<LatestStart>
  /**
   * Returns the highest epoch; 0 before the first.
   * @param counts tells whether the key that announced a start still counts
   */
  ownerEpoch(cell: number, journal: string, counts: KeyCounts): number
  put(number: number, start: ServiceStart): void
  /** The rows to write within the caller's transaction. */
  readonly rows: readonly Pick<UnflushedRows<number, Buffer | null>, 'put'>[]
}

/**
 * Tells whether a co-signer key is still valid; null stands for a start that an earlier build
 * noted.
 */
export type KeyCounts = (kid: Uint8Array | null) => boolean

/** The start that serves a cell's users. */
export interface LatestStart {
  readonly number: number
  /** The cell as the start announced it. */
  readonly cell: Cell
  /** The leadership of the journal that it announced last; null without a journal. */
  readonly leadership: JournalLeadership | null
  /** The id of the co-signer key that announced it; null when an earlier build noted it. */
  readonly kid: Uint8Array | null
}

/**
 * The bound of remembered starts, 32 bytes each in memory. A start that so many others have
 * followed would count as new, but no process lives that long. The latest start of each cell always
 * stays.
 */
const BOOTS_MAX = 65_536

/** A service without a journal serves every user. */
export function cellOf({ leadership }: ServiceStart): Cell {
  return leadership?.cell ?? ONE_CELL
}

/** @param root the ledger's environment: 07-boots, and 20-boot-keys with each start's key id */
export function openBootRows(root: RootDatabase): BootRows {
  const boots = root.openDB<Buffer, number>({ name: '07-boots', encoding: 'binary' })
  // Stored separately, so that an earlier build can read its own part.
  const bootKeys = root.openDB<Buffer, number>({ name: '20-boot-keys', encoding: 'binary' })
  const numbers = new Map<string, number>()
  const latest = new Map<number, LatestStart>()
  /** The highest epoch of each key, by journal. */
  const epochs = new Map<string, Map<string, OwnerEpoch>>()
  let last = 0

  const rows = rowsOf(boots)
  const keyRows = rowsOf(bootKeys)

  function note(number: number, start: ServiceStart): void {
    const { boot, leadership, kid = null } = start
    const cell = cellOf(start)
    last = Math.max(last, number)
    numbers.set(nameOf(boot), number)
    latest.set(cell.number, { number, cell, leadership, kid })
    if (numbers.size > BOOTS_MAX) forgetOldest()
    if (leadership === null) return
    const name = epochName(cell.number, leadership.journal)
    const ofJournal = epochs.get(name) ?? new Map<string, OwnerEpoch>()
    epochs.set(name, ofJournal)
    const key = kid === null ? '' : nameOf(kid)
    const epoch = Math.max(leadership.epoch, ofJournal.get(key)?.epoch ?? 0)
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

function encodeStart({ boot, leadership }: ServiceStart): Buffer {
  return leadership === null ? Buffer.from(boot) : concat(boot, encodeLeadership(leadership))
}

function decodeStart(stored: Buffer): ServiceStart {
  const leadership = stored.subarray(SERVICE_BOOT_BYTES)
  return {
    boot: stored.subarray(0, SERVICE_BOOT_BYTES),
    leadership: leadership.length === 0 ? null : decodeLeadership(leadership),
  }
}

function nameOf(boot: Uint8Array): string {
  return viewOf(boot).toString('latin1')
}

function epochName(cell: number, journal: string): string {
  return `${cell} ${journal}`
}
