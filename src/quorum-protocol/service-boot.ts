import { concat, expectBytes, u64, viewOf } from './bytes.js'
import { type P256Signer, verifyP256 } from './p256.js'
import { Refusal } from './refusal.js'
import type { Registry } from './registry.js'
import { TAG, tagged } from './tagged.js'

/**
 * Which start of the wallet service a connection belongs to. A lock keeps two services from one
 * home; this keeps apart two that run on copies of one, or where no lock reaches: the user side
 * serves the start that announced itself last, and no earlier one ever again.
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
}

export interface ServiceStart {
  readonly boot: Uint8Array
  readonly owner: JournalOwner | null
}

const JOURNAL_BYTES = 16
export const JOURNAL_OWNER_BYTES = JOURNAL_BYTES + 8

export function encodeOwner({ journal, epoch }: JournalOwner): Buffer {
  return concat(Buffer.from(journal, 'hex'), u64(epoch))
}

/** @throws Refusal MALFORMED */
export function decodeOwner(value: unknown): JournalOwner {
  const bytes = viewOf(expectBytes(value, JOURNAL_OWNER_BYTES))
  const epoch = Number(bytes.readBigUInt64BE(JOURNAL_BYTES))
  if (!Number.isSafeInteger(epoch)) throw new Refusal('MALFORMED', 'epoch of a journal')
  return { journal: bytes.toString('hex', 0, JOURNAL_BYTES), epoch }
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
 *   journal `owner 24`
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
  const keys = registry.keysOf('co_signers', nowMs)
  if (!keys.some((key) => verifyP256(key, message, signed))) {
    throw new Refusal('UNAUTHENTIC', 'start of the service')
  }
  return { boot: announced, owner }
}

function serviceBootMessage(boot: Uint8Array, owner: readonly Uint8Array[]): Buffer {
  return tagged(TAG.serviceBoot, boot, ...owner)
}
