import { expectBytes } from './bytes.js'
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

/** Signed with the co-signer key, as batches are: nobody else can take the service's place. */
export function signServiceBoot(boot: Uint8Array, signer: P256Signer): Promise<Buffer> {
  return signer.sign(serviceBootMessage(boot))
}

/**
 * @param statement as it came: `[boot 16, signature 64]`
 * @returns the boot
 * @throws Refusal MALFORMED, or UNAUTHENTIC when no valid co-signer key signed it
 */
export function openServiceBoot(
  [boot, signature]: readonly unknown[],
  registry: Registry,
  nowMs: number,
): Uint8Array {
  const announced = expectBytes(boot, SERVICE_BOOT_BYTES)
  const signed = expectBytes(signature, 64)
  const message = serviceBootMessage(announced)
  const keys = registry.keysOf('co_signers', nowMs)
  if (!keys.some((key) => verifyP256(key, message, signed))) {
    throw new Refusal('UNAUTHENTIC', 'start of the service')
  }
  return announced
}

function serviceBootMessage(boot: Uint8Array): Buffer {
  return tagged(TAG.serviceBoot, boot)
}
