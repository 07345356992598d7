import { ALL_PARTITIONS, CELLS_MAX, type Cell, ONE_CELL } from '../domain/cells.js'
import { concat, expectBytes, u8, u32, u64, viewOf } from './bytes.js'
import { type P256Signer, verifyP256 } from './p256.js'
import { Refusal } from './refusal.js'
import type { Registry } from './registry.js'
import { TAG, tagged } from './tagged.js'

/**
 * Which start of the wallet service a connection belongs to. A lock keeps two services from one
 * home; this keeps apart two that run on copies of one, or where no lock reaches: of each cell the user
 * side serves the start that announced itself last, and no earlier one ever again.
 */
export const SERVICE_BOOT_BYTES = 16

/**
 * Of a start whose commits go to a journal: which one, and the epoch that it took it with. Of two that
 * took the same one, the later epoch owns it, whichever announces itself last.
 */
export interface JournalOwner {
  /** Drawn when the journal was begun: 16 bytes, hex. */
  readonly journal: string
  readonly epoch: number
  /** Whose users these are. */
  readonly cell: Cell
}

export interface ServiceStart {
  readonly boot: Uint8Array
  readonly owner: JournalOwner | null
  /** Id of the co-signer key that it was announced by, 8 bytes; absent where an earlier build noted it. */
  readonly kid?: Uint8Array
}

const JOURNAL_BYTES = 16
const JOURNAL_OWNER_BYTES = JOURNAL_BYTES + 8
/** Of an owner of some users, its number and their partitions; of one that has all, nothing. */
const CELL_BYTES = 1 + 4

export function encodeOwner({ journal, epoch, cell }: JournalOwner): Buffer {
  const owner = [Buffer.from(journal, 'hex'), u64(epoch)]
  if (cell.partitions === ALL_PARTITIONS) return concat(...owner)
  return concat(...owner, u8(cell.number), u32(cell.partitions))
}

/** @throws Refusal MALFORMED */
export function decodeOwner(value: unknown): JournalOwner {
  const bytes = viewOf(expectBytes(value))
  const { length } = bytes
  const hasCell = length === JOURNAL_OWNER_BYTES + CELL_BYTES
  if (!hasCell && length !== JOURNAL_OWNER_BYTES) throw new Refusal('MALFORMED', 'owner')
  const epoch = Number(bytes.readBigUInt64BE(JOURNAL_BYTES))
  if (!Number.isSafeInteger(epoch)) throw new Refusal('MALFORMED', 'epoch of a journal')
  const cell = hasCell ? decodeCell(bytes.subarray(JOURNAL_OWNER_BYTES)) : ONE_CELL
  return { journal: bytes.toString('hex', 0, JOURNAL_BYTES), epoch, cell }
}

/** @throws Refusal MALFORMED for one of no users, or of more than there are, or that has all */
function decodeCell(bytes: Buffer): Cell {
  const cell = { number: bytes.readUInt8(0), partitions: bytes.readUInt32BE(1) }
  const isSome = cell.partitions > 0 && cell.partitions < ALL_PARTITIONS
  if (!isSome || cell.number >= CELLS_MAX) throw new Refusal('MALFORMED', 'cell')
  return cell
}

/** Signed with the co-signer key, as batches are: nobody else can take the service's place. */
export async function announceStart(
  { boot, owner }: ServiceStart,
  signer: P256Signer,
): Promise<readonly Uint8Array[]> {
  const encoded = owner === null ? [] : [encodeOwner(owner)]
  return [boot, await signer.sign(serviceBootMessage(boot, encoded)), ...encoded]
}

/**
 * @param statement as it came, of `announceStart`: `[boot 16, signature 64]`, and where there is a
 *   journal `owner 24`, or 29 of a cell of some users
 * @throws Refusal MALFORMED, or UNAUTHENTIC when no valid co-signer key signed it
 */
export function openServiceBoot(
  [boot, signature, ...owners]: readonly unknown[],
  registry: Registry,
  nowMs: number,
): ServiceStart {
  const announced = expectBytes(boot, SERVICE_BOOT_BYTES)
  const signed = expectBytes(signature, 64)
  const owner = owners.length === 0 ? null : decodeOwner(owners[0])
  const message = serviceBootMessage(announced, owner === null ? [] : [encodeOwner(owner)])
  const kid = registry.kidsOf('co_signers', nowMs).find((id) => {
    const key = registry.keyById('co_signers', id, nowMs)
    return key !== null && verifyP256(key, message, signed)
  })
  if (kid === undefined) throw new Refusal('UNAUTHENTIC', 'start of the service')
  return { boot: announced, owner, kid }
}

function serviceBootMessage(boot: Uint8Array, owner: readonly Uint8Array[]): Buffer {
  return tagged(TAG.serviceBoot, boot, ...owner)
}
