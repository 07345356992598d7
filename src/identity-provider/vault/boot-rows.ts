import type { RootDatabase } from 'lmdb'
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
  /** Number of the latest; 0 before the first. */
  readonly last: number
  numberOf(boot: Uint8Array): number | null
  ownerEpoch(journal: string): number
  put(number: number, start: ServiceStart): void
  /** Takes part in the caller's transaction. */
  readonly rows: Pick<UnflushedRows<number, Buffer>, 'put'>
}

/**
 * Starts of the service that are told apart, 32 bytes each in memory. One that so many others have
 * followed would be taken for a new one: no process lives that long.
 */
const BOOTS_MAX = 65_536

/** @param root of the ledger: 07-boots */
export function openBootRows(root: RootDatabase): BootRows {
  const boots = root.openDB<Buffer, number>({ name: '07-boots', encoding: 'binary' })
  const numbers = new Map<string, number>()
  const epochs = new Map<string, number>()
  let last = 0

  function note(number: number, { boot, owner }: ServiceStart): void {
    last = number
    numbers.set(nameOf(boot), number)
    for (const oldest of numbers.keys()) {
      if (numbers.size <= BOOTS_MAX) break
      numbers.delete(oldest)
    }
    if (owner === null) return
    epochs.set(owner.journal, Math.max(owner.epoch, epochs.get(owner.journal) ?? 0))
  }
  for (const { key, value } of boots.getRange()) note(key, decodeStart(value))

  const rows = unflushedRows<number, Buffer>((number, start) => {
    void boots.put(number, start)
    void boots.remove(number - BOOTS_MAX)
  })
  return {
    get last() {
      return last
    },
    numberOf: (boot) => numbers.get(nameOf(boot)) ?? null,
    ownerEpoch: (journal) => epochs.get(journal) ?? 0,
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
