import { ALL_PARTITIONS, CELLS_MAX, type Cell, ONE_CELL } from '../domain/cells.js'
import { concat, expectBytes, u8, u32, u64, viewOf } from './bytes.js'
import { type P256Signer, verifyP256 } from './p256.js'
import { Refusal } from './refusal.js'
import type { Registry } from './registry.js'
import { TAG, tagged } from './tagged.js'

/**
 * Identifies the start of the wallet service to which a connection belongs. A lock keeps two
 * services from using one home; this id separates services on copies of a home, or where locks do
 * not work: for each cell the identity provider serves the start that announced itself last, and
 * never an earlier one.
 */
export const SERVICE_BOOT_BYTES = 16

/**
 * The journal of a start whose commits go to one, and the epoch of its leadership. Of two starts
 * with the same journal, the one with the later epoch leads, whichever announces itself last.
 */
export interface JournalLeadership {
  /** The journal's random id: 16 bytes in hex. */
  readonly journal: string
  readonly epoch: number
  /** The cell that it serves. */
  readonly cell: Cell
}

export interface ServiceStart {
  readonly boot: Uint8Array
  readonly leadership: JournalLeadership | null
  /**
   * 8 bytes: the id of the co-signer key that announced it; absent when an earlier build noted it.
   */
  readonly kid?: Uint8Array
}

const JOURNAL_BYTES = 16
const JOURNAL_LEADERSHIP_BYTES = JOURNAL_BYTES + 8
/** The number and partitions of a cell with some users; nothing for one with all users. */
const CELL_BYTES = 1 + 4

export function encodeLeadership({ journal, epoch, cell }: JournalLeadership): Buffer {
  const leadership = [Buffer.from(journal, 'hex'), u64(epoch)]
  if (cell.partitions === ALL_PARTITIONS) return concat(...leadership)
  return concat(...leadership, u8(cell.number), u32(cell.partitions))
}

/** @throws Refusal MALFORMED */
export function decodeLeadership(value: unknown): JournalLeadership {
  const bytes = viewOf(expectBytes(value))
  const { length } = bytes
  const hasCell = length === JOURNAL_LEADERSHIP_BYTES + CELL_BYTES
  if (!hasCell && length !== JOURNAL_LEADERSHIP_BYTES) throw new Refusal('MALFORMED', 'owner')
  const epoch = Number(bytes.readBigUInt64BE(JOURNAL_BYTES))
  if (!Number.isSafeInteger(epoch)) throw new Refusal('MALFORMED', 'epoch of a journal')
  const cell = hasCell ? decodeCell(bytes.subarray(JOURNAL_LEADERSHIP_BYTES)) : ONE_CELL
  return { journal: bytes.toString('hex', 0, JOURNAL_BYTES), epoch, cell }
}

/** @throws Refusal MALFORMED for a cell with no users, more than exist, or all of them */
function decodeCell(bytes: Buffer): Cell {
  const cell = { number: bytes.readUInt8(0), partitions: bytes.readUInt32BE(1) }
  const isSome = cell.partitions > 0 && cell.partitions < ALL_PARTITIONS
  if (!isSome || cell.number >= CELLS_MAX) throw new Refusal('MALFORMED', 'cell')
  return cell
}

/** Signs with the co-signer key, as for batches, so that nobody else can replace the service. */
export async function announceStart(
  { boot, leadership }: ServiceStart,
  signer: P256Signer,
): Promise<readonly Uint8Array[]> {
  const encoded = leadership === null ? [] : [encodeLeadership(leadership)]
  return [boot, await signer.sign(serviceBootMessage(boot, encoded)), ...encoded]
}

/**
 * @param statement the received result of `announceStart`: `[boot 16, signature 64]`, with a
 * journal also `owner 24`, or 29 for a cell of some users
 * @throws Refusal MALFORMED, or UNAUTHENTIC when no valid co-signer key signed it
 */
export function openServiceBoot(
  [boot, signature, ...leaderships]: readonly unknown[],
  registry: Registry,
  nowMs: number,
): ServiceStart {
  const announced = expectBytes(boot, SERVICE_BOOT_BYTES)
  const signed = expectBytes(signature, 64)
  const leadership = leaderships.length === 0 ? null : decodeLeadership(leaderships[0])
  const message = serviceBootMessage(
    announced,
    leadership === null ? [] : [encodeLeadership(leadership)],
  )
  const kid = registry.kidsOf('co_signers', nowMs).find((id) => {
    const key = registry.keyById('co_signers', id, nowMs)
    return key !== null && verifyP256(key, message, signed)
  })
  if (kid === undefined) throw new Refusal('UNAUTHENTIC', 'start of the service')
  return { boot: announced, leadership, kid }
}

function serviceBootMessage(boot: Uint8Array, leadership: readonly Uint8Array[]): Buffer {
  return tagged(TAG.serviceBoot, boot, ...leadership)
}
